// A session is what the server made with a key of the account, for its time, until it is closed or
// the key goes.
#include "console/session.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace orrery::console {
namespace {

constexpr int64_t kNow = 1'794'717'000;
const std::string kPrimaryKey = to_base64(std::string(64, 'p'));
const std::string kReadOnlyKey = to_base64(std::string(64, 'r'));

class SessionTest : public testing::Test {
 protected:
  SessionTest() {
    account::AccountOptions options;
    options.regenerate = [](account::KeyName name) -> Result<account::Keys> {
      account::Keys keys{kPrimaryKey, "", kReadOnlyKey, ""};
      account::key_of(keys, name) = to_base64(std::string(64, 'n'));
      return keys;
    };
    auto made =
        account::Account::open({kPrimaryKey, "", kReadOnlyKey, ""}, std::string(32, 's'), options);
    EXPECT_TRUE(made.has_value());
    account_ = std::move(*made);
    sessions_ = again();
  }
  std::unique_ptr<Sessions> again() {
    auto made = Sessions::create(*account_);
    EXPECT_TRUE(made.has_value());
    return std::move(*made);
  }
  std::string open(const std::string& key = kPrimaryKey, int64_t at_s = kNow) {
    auto token = sessions_->open(key, at_s);
    EXPECT_TRUE(token.has_value());
    return token ? *token : "";
  }

  std::unique_ptr<account::Account> account_;
  std::unique_ptr<Sessions> sessions_;
};

TEST_F(SessionTest, HasTheRightsOfItsKey) {
  EXPECT_EQ(sessions_->check(open(), kNow)->access, account::Access::read_write);
  EXPECT_EQ(sessions_->check(open(kReadOnlyKey), kNow)->access, account::Access::read_only);
  auto without = sessions_->open_without_key(kNow);
  ASSERT_TRUE(without);
  EXPECT_EQ(sessions_->check(*without, kNow)->access, account::Access::read_write);
}

TEST_F(SessionTest, OpensForAKeyOfTheAccountAlone) {
  for (const std::string& key : {to_base64(std::string(64, 'x')), std::string(), std::string("%"),
                                 std::string(1 << 16, 'A')}) {
    auto refused = sessions_->open(key, kNow);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::unauthorized);
    EXPECT_EQ(refused.error().message.find(key.empty() ? "\n" : key), std::string::npos);
  }
}

TEST_F(SessionTest, EndsAfterAnHourWithoutUseAndEightInAll) {
  std::string token = open();
  EXPECT_TRUE(sessions_->check(token, kNow + kIdleS - 1));
  EXPECT_FALSE(sessions_->check(token, kNow + kIdleS));
  EXPECT_FALSE(sessions_->renew(token, kNow + kRenewAfterS - 1)) << "not worth a new token";
  for (int64_t at_s = kNow; at_s < kNow + kSessionS; at_s += kIdleS - 1) {
    ASSERT_TRUE(sessions_->check(token, at_s));
    if (auto renewed = sessions_->renew(token, at_s)) token = *renewed;
  }
  EXPECT_TRUE(sessions_->check(token, kNow + kSessionS - 1));
  EXPECT_FALSE(sessions_->check(token, kNow + kSessionS));
  EXPECT_FALSE(sessions_->renew(token, kNow + kSessionS));
}

TEST_F(SessionTest, DiesWithItsKeyAndNoOther) {
  const std::string writes = open();
  const std::string reads = open(kReadOnlyKey);
  ASSERT_TRUE(account_->regenerate(account::KeyName::primary));
  EXPECT_FALSE(sessions_->check(writes, kNow));
  EXPECT_FALSE(sessions_->renew(writes, kNow + kRenewAfterS));
  EXPECT_TRUE(sessions_->check(reads, kNow));
}

TEST_F(SessionTest, DiesWithTheServer) {
  const std::string token = open();
  EXPECT_FALSE(again()->check(token, kNow));
}

TEST_F(SessionTest, ClosedIsClosedForItsRenewedTokensToo) {
  const std::string token = open();
  const auto renewed = sessions_->renew(token, kNow + kRenewAfterS);
  ASSERT_TRUE(renewed);
  const std::string other = open();
  sessions_->close(*sessions_->check(token, kNow));
  EXPECT_FALSE(sessions_->check(token, kNow));
  EXPECT_FALSE(sessions_->check(*renewed, kNow + kRenewAfterS));
  EXPECT_TRUE(sessions_->check(other, kNow));
}

TEST_F(SessionTest, RemembersABoundedNumberOfClosedOnes) {
  std::string last;
  for (size_t i = 0; i < kRevokedMax + 10; ++i) {
    last = open();
    sessions_->close(*sessions_->check(last, kNow));
  }
  EXPECT_FALSE(sessions_->check(last, kNow));
}

TEST_F(SessionTest, NoPartOfItCanBeChanged) {
  const std::string token = open();
  ASSERT_EQ(token.size(), kTokenChars);
  for (size_t i = 0; i < token.size(); ++i) {
    std::string changed = token;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(sessions_->check(changed, kNow)) << i;
  }
  for (const std::string& other :
       {std::string(), token.substr(2), token + "00", std::string(kTokenChars, '0'),
        std::string(kTokenChars, 'z'), std::string(1 << 16, 'A')}) {
    EXPECT_FALSE(sessions_->check(other, kNow));
  }
}

}  // namespace
}  // namespace orrery::console
