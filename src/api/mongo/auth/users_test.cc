// The stored form of users.
#include "api/mongo/auth/users.h"

#include <gtest/gtest.h>

#include "api/mongo/bson/bson_codec.h"

namespace orrery::mongo {
namespace {

TEST(Users, AreReadBackAsTheyWereWritten) {
  User user{.name = "ada", .database = "app", .roles = {{"read", "app"}, {"root", "admin"}}};
  auto credential = make_credential(ScramKind::sha256, user.name, "secret");
  ASSERT_TRUE(credential);
  user.sha256 = *credential;
  const std::string text = encode_user(user);
  for (const char c : text) EXPECT_TRUE(c > ' ' && c < 127) << "resources are texts";
  auto read = decode_user(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->id(), "app.ada");
  EXPECT_EQ(read->roles, user.roles);
  EXPECT_FALSE(read->sha1);
  ASSERT_TRUE(read->sha256);
  EXPECT_EQ(read->sha256->salt, credential->salt);
  EXPECT_EQ(read->sha256->iterations, 15'000U);
  EXPECT_EQ(read->sha256->derived.stored_key, credential->derived.stored_key);
  EXPECT_FALSE(decode_user("?"));
}

TEST(Users, PasswordsAreNeitherEmptyNorProhibited) {
  EXPECT_FALSE(make_credential(ScramKind::sha256, "ada", ""));
  EXPECT_FALSE(make_credential(ScramKind::sha256, "ada", "\x07"));
}

}  // namespace
}  // namespace orrery::mongo
