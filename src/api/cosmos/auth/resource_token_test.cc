// Resource tokens: what is sealed is opened, and nothing else is.
#include "api/cosmos/auth/resource_token.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace orrery::cosmos {
namespace {

constexpr std::string_view kHead = "type=resource&ver=1.0&sig=";
const ResourceToken kToken{
    .permission = 7, .container = 3, .expires_s = 1'794'717'000, .fingerprint = 0x0123456789ABCDEF};

std::string signature(const ResourceTokens& tokens, const ResourceToken& token) {
  const std::string text = tokens.seal(token);
  EXPECT_TRUE(text.starts_with(kHead));
  return text.substr(kHead.size());
}

TEST(ResourceToken, OpensWhatItSealed) {
  const ResourceTokens tokens{account::Secret("secret")};
  for (const ResourceToken& token : {kToken, ResourceToken{}, ResourceToken{UINT32_MAX, 0, 0, 1}}) {
    auto opened = tokens.open(signature(tokens, token));
    ASSERT_TRUE(opened) << opened.error().message;
    EXPECT_EQ(*opened, token);
  }
}

TEST(ResourceToken, RefusesWhatAnotherServerSealed) {
  auto opened = ResourceTokens(account::Secret("secret"))
                    .open(signature(ResourceTokens(account::Secret("other")), kToken));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::unauthorized);
}

TEST(ResourceToken, RefusesEveryChangedByte) {
  const ResourceTokens tokens{account::Secret("secret")};
  const std::string genuine = from_base64(signature(tokens, kToken)).value();
  for (size_t i = 0; i < genuine.size(); ++i) {
    std::string changed = genuine;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(tokens.open(to_base64(changed))) << i;
  }
  EXPECT_FALSE(tokens.open(to_base64(genuine.substr(1))));
  EXPECT_FALSE(tokens.open(to_base64(genuine + "x")));
  for (const char* text : {"", "x", "====", "AAAA"}) EXPECT_FALSE(tokens.open(text)) << text;
}

TEST(ResourceToken, LivesAsLongAsAskedFor) {
  EXPECT_EQ(token_life(""), 3600);
  EXPECT_EQ(token_life("10"), 10);
  EXPECT_EQ(token_life("86400"), 86'400);
  for (const char* text : {"9", "86401", "-1", "1h", "10.5", " 10", "99999999999999999999"}) {
    EXPECT_FALSE(token_life(text)) << text;
  }
}

}  // namespace
}  // namespace orrery::cosmos
