// A signed administrative request is good for itself, once, for five minutes; whatever differs in
// one part is refused.
#include "ops/admin_signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>

#include "base/bytes.h"

namespace orrery::ops {
namespace {

using testing::HasSubstr;

constexpr std::optional<Code> kTaken;  // refused with nothing
constexpr int64_t kNow = 1'794'717'000;
const std::string kKey = to_base64(std::string(64, 'k'));
const std::string kReadOnly = to_base64(std::string(64, 'r'));

account::KeyRing authorizer(const std::string& primary = kKey,
                            const std::string& readonly = kReadOnly) {
  auto made = account::KeyRing::create({.primary = primary,
                                        .secondary = {},
                                        .primary_readonly = readonly,
                                        .secondary_readonly = {}});
  EXPECT_TRUE(made.has_value());
  return std::move(*made);
}

struct Signed {
  std::string method = "POST";
  std::string target = "/admin/split?a=b";
  std::string body = "{}";
  AdminHeaders headers;

  AdminRequest request() const {
    return {.method = method,
            .target = target,
            .authorization = headers.authorization,
            .date = headers.date,
            .nonce = headers.nonce,
            .content_sha256 = headers.content_sha256};
  }
};

Signed sign(int64_t at_s = kNow, const std::string& key = kKey) {
  Signed made;
  const account::KeyRing signer = authorizer(key, "");
  auto headers = sign_admin(signer, made.method, made.target, made.body, at_s);
  EXPECT_TRUE(headers.has_value());
  made.headers = *headers;
  return made;
}

class AdminSignatureTest : public testing::Test {
 protected:
  std::optional<Code> verify(const Signed& sent, int64_t now_s = kNow) {
    auto access = signatures_.verify(authorizer_, sent.request(), now_s);
    return access ? kTaken : std::optional(access.error().code);
  }
  std::optional<Code> admit(const Signed& sent, int64_t now_s = kNow) {
    auto admitted = signatures_.admit(sent.request(), sent.body, now_s);
    return admitted ? kTaken : std::optional(admitted.error().code);
  }

  const account::KeyRing authorizer_ = authorizer();
  AdminSignatures signatures_{kNow - 3600};
};

TEST_F(AdminSignatureTest, IsTakenAndTellsTheKeysAccess) {
  auto access = signatures_.verify(authorizer_, sign().request(), kNow);
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(*access, account::Access::read_write);
  access = signatures_.verify(authorizer_, sign(kNow, kReadOnly).request(), kNow);
  ASSERT_TRUE(access);
  EXPECT_EQ(*access, account::Access::read_only);
  EXPECT_EQ(verify(sign(kNow, to_base64("another"))), Code::unauthorized);
}

TEST_F(AdminSignatureTest, IsForOneMethodPathQueryDateNonceAndBody) {
  const Signed good = sign();
  EXPECT_EQ(verify(good), kTaken);
  EXPECT_EQ(admit(good), kTaken);
  for (auto change :
       {+[](Signed& s) { s.method = "GET"; }, +[](Signed& s) { s.method = "post"; },
        +[](Signed& s) { s.target = "/admin/keys/regenerate"; },
        +[](Signed& s) { s.target = "/admin/split"; },
        +[](Signed& s) { s.target = "/admin/split?a=c"; },
        +[](Signed& s) { s.headers.date = "Sun, 15 Nov 2026 04:30:01 GMT"; },
        +[](Signed& s) { s.headers.nonce = std::string(32, 'A'); },
        +[](Signed& s) { s.headers.nonce.clear(); }, +[](Signed& s) { s.headers.nonce += "00"; },
        +[](Signed& s) { s.headers.content_sha256 = std::string(64, 'A'); },
        +[](Signed& s) { s.headers.content_sha256.clear(); },
        +[](Signed& s) { s.headers.authorization.clear(); }}) {
    Signed changed = sign();
    change(changed);
    EXPECT_EQ(verify(changed), Code::unauthorized)
        << changed.method << ' ' << changed.target << ' ' << changed.headers.nonce;
  }
  Signed other_body = sign();
  other_body.body = R"({"key":"primary"})";
  EXPECT_EQ(verify(other_body), kTaken) << "the headers are right";
  EXPECT_EQ(admit(other_body), Code::unauthorized);
}

TEST_F(AdminSignatureTest, IsTakenOnce) {
  const Signed sent = sign();
  EXPECT_EQ(admit(sent), kTaken);
  EXPECT_EQ(admit(sent), Code::unauthorized);
  EXPECT_EQ(admit(sent, kNow + kAdminWindowS), Code::unauthorized);
  EXPECT_EQ(admit(sign()), kTaken);
  std::set<std::string> nonces;
  for (int i = 0; i < 100; ++i) nonces.insert(sign().headers.nonce);
  EXPECT_EQ(nonces.size(), 100);
}

TEST_F(AdminSignatureTest, IsTakenWithinFiveMinutesOfItsDateAndNotFromBeforeTheStart) {
  const Signed sent = sign();
  for (const int64_t late : {-kAdminWindowS, int64_t{0}, kAdminWindowS}) {
    EXPECT_EQ(verify(sent, kNow + late), kTaken) << late;
  }
  for (const int64_t late : {-kAdminWindowS - 1, kAdminWindowS + 1, int64_t{86'400}}) {
    EXPECT_EQ(verify(sent, kNow + late), Code::unauthorized) << late;
  }
  const AdminSignatures restarted(kNow + 1);
  auto refused = restarted.verify(authorizer_, sent.request(), kNow + 2);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("before this server started"));
  EXPECT_TRUE(restarted.verify(authorizer_, sign(kNow + 1).request(), kNow + 2));
}

TEST_F(AdminSignatureTest, OneOfTheVendorsKindIsNotTaken) {
  Signed sent = sign();
  sent.headers.authorization =
      percent_encode("type=master&ver=1.0&sig=" +
                     authorizer_.signature_of("post\nadmin\n\n" + sent.headers.date + "\n\n"));
  auto refused = signatures_.verify(authorizer_, sent.request(), kNow);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::unauthorized);
  EXPECT_THAT(refused.error().message, HasSubstr("type=orrery-admin"));
}

TEST_F(AdminSignatureTest, WhatIsRememberedHasABoundAndIsForgottenInTime) {
  AdminSignatures small(kNow - 3600, 2);
  const auto code = [&small](const Signed& sent, int64_t now_s) {
    auto admitted = small.admit(sent.request(), sent.body, now_s);
    return admitted ? kTaken : std::optional(admitted.error().code);
  };
  EXPECT_EQ(code(sign(), kNow), kTaken);
  EXPECT_EQ(code(sign(), kNow), kTaken);
  EXPECT_EQ(code(sign(), kNow), Code::overloaded);
  const int64_t later = kNow + kAdminWindowS + 1;
  EXPECT_EQ(code(sign(later), later), kTaken);
}

}  // namespace
}  // namespace orrery::ops
