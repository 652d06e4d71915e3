// What roles allow.
#include "api/mongo/auth/roles.h"

#include <gtest/gtest.h>

namespace orrery::mongo {
namespace {

TEST(Roles, AreOfTheirDatabase) {
  const std::vector<Role> roles = {{"read", "a"}, {"readWrite", "b"}};
  EXPECT_TRUE(allow(roles, Action::read, "a"));
  EXPECT_FALSE(allow(roles, Action::write, "a"));
  EXPECT_TRUE(allow(roles, Action::write, "b"));
  EXPECT_TRUE(allow(roles, Action::collections, "b"));
  EXPECT_FALSE(allow(roles, Action::manage, "b"));
  EXPECT_FALSE(allow(roles, Action::read, "c"));
  EXPECT_TRUE(allow(roles, Action::login, "c"));
  EXPECT_FALSE(allow_everywhere(roles, Action::read));
}

TEST(Roles, OfAdminAreOfAllDatabases) {
  const std::vector<Role> all = {{"readAnyDatabase", "admin"}};
  EXPECT_TRUE(allow(all, Action::read, "a"));
  EXPECT_FALSE(allow(all, Action::write, "a"));
  EXPECT_TRUE(allow_everywhere(all, Action::read));
  EXPECT_EQ(find_role("readAnyDatabase", "a"), nullptr);
  EXPECT_EQ(find_role("nothing", "admin"), nullptr);
  const std::vector<Role> admin = {{"read", "admin"}};
  EXPECT_FALSE(allow(admin, Action::read, "a")) << "a role of admin's own documents";
}

TEST(Roles, OfUsersAndOfDocumentsAreApart) {
  const std::vector<Role> users = {{"userAdmin", "a"}};
  EXPECT_TRUE(allow(users, Action::users, "a"));
  EXPECT_FALSE(allow(users, Action::read, "a"));
  const std::vector<Role> root = {{"root", "admin"}};
  for (const Action action :
       {Action::read, Action::write, Action::users, Action::cluster, Action::monitor}) {
    EXPECT_TRUE(allow(root, action, "any"));
  }
}

}  // namespace
}  // namespace orrery::mongo
