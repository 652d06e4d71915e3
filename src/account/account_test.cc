// Signatures against a known vector, seals, and keys that change while they are used.
#include "account/account.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/bytes.h"

namespace orrery::account {
namespace {

HmacKey key_of_bytes(std::string_view bytes) {
  auto made = HmacKey::create(bytes);
  EXPECT_TRUE(made.has_value());
  return std::move(*made);
}

// RFC 4231, cases 1, 2 and 6 (a key that is longer than a block).
TEST(HmacTest, KnownVectors) {
  struct Row {
    std::string key;
    std::string bytes;
    std::string hex;
  };
  for (const Row& row :
       {Row{std::string(20, '\x0b'), "Hi There",
            "B0344C61D8DB38535CA8AFCEAF0BF12B881DC200C9833DA726E9376C2E32CFF7"},
        Row{"Jefe", "what do ya want for nothing?",
            "5BDCC146BF60754E6A042426089575C75A003F089D2739839DEC58B964EC3843"},
        Row{std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First",
            "60E431591EE0B67F0D8A26AACBF5B77F8E0BC6213728C5140546040F0EE37F54"}}) {
    const HmacKey key = key_of_bytes(row.key);
    for (int again = 0; again < 3; ++again) {
      const auto digest = key.sign(row.bytes);
      ASSERT_TRUE(digest);
      EXPECT_EQ(to_hex_upper(as_view(*digest)), row.hex);
    }
    const auto once = hmac(HmacHash::sha256, row.key, row.bytes);
    ASSERT_TRUE(once) << once.error().message;
    EXPECT_EQ(to_hex_upper(*once), row.hex);
  }
}

// RFC 2202, cases 1, 2 and 6.
TEST(HmacTest, KnownVectorsOfSha1) {
  struct Row {
    std::string key;
    std::string bytes;
    std::string hex;
  };
  for (const Row& row :
       {Row{std::string(20, '\x0b'), "Hi There", "B617318655057264E28BC0B6FB378C8EF146BE00"},
        Row{"Jefe", "what do ya want for nothing?", "EFFCDF6AE5EB2FA2D27416D5F184DF9C259A7C79"},
        Row{std::string(80, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First",
            "AA4AE5E15272D00E95705637CE8A3B55ED402112"}}) {
    const auto signature = hmac(HmacHash::sha1, row.key, row.bytes);
    ASSERT_TRUE(signature) << signature.error().message;
    EXPECT_EQ(to_hex_upper(*signature), row.hex);
  }
}

TEST(HmacTest, AnEmptyKeyIsOneToo) {
  const auto digest = key_of_bytes({}).sign("x");
  ASSERT_TRUE(digest);
  EXPECT_NE(*digest, *key_of_bytes("k").sign("x"));
}

// A context is used by one thread at a time: ThreadSanitizer has the last word here.
TEST(HmacTest, ThreadsSignWithOneKey) {
  const HmacKey key = key_of_bytes("k");
  const auto right = key.sign("payload");
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 2000; ++n) wrong += key.sign("payload") == right ? 0 : 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(SealTest, OpensWhatItClosedAndNothingElse) {
  const Secret secret("secret");
  const Seal seal = secret.seal("tokens", 16);
  const std::string sealed = seal.close("bytes");
  EXPECT_EQ(sealed.size(), 5U + 16U);
  EXPECT_EQ(seal.open(sealed), "bytes");
  EXPECT_EQ(seal.open(seal.close("")), "");
  EXPECT_EQ(Secret("secret").seal("tokens", 16).open(sealed), "bytes");
  EXPECT_FALSE(Secret("other").seal("tokens", 16).open(sealed));
  EXPECT_FALSE(secret.seal("other", 16).open(sealed));
  EXPECT_FALSE(secret.seal("tokens", 8).open(sealed));
  for (size_t i = 0; i < sealed.size(); ++i) {
    std::string changed = sealed;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(seal.open(changed)) << i;
    EXPECT_FALSE(seal.open(sealed.substr(0, i))) << i;
  }
}

TEST(AccountTest, ARegeneratedKeyTakesThePlaceOfTheOld) {
  Keys keys{.primary = to_base64("one"),
            .secondary = to_base64("two"),
            .primary_readonly = to_base64("three"),
            .secondary_readonly = {}};
  auto account = Account::open(keys, "secret", {.regenerate = [&](KeyName name) {
                                 key_of(keys, name) = to_base64("new");
                                 return Result<Keys>(keys);
                               }});
  ASSERT_TRUE(account);
  const auto signed_with = [](std::string_view key) {
    return to_base64(as_view(*key_of_bytes(key).sign("payload")));
  };
  const KeyRing& before = (*account)->keys();
  EXPECT_EQ(before.who_signed("payload", signed_with("one")), Access::read_write);
  EXPECT_EQ(before.who_signed("payload", signed_with("three")), Access::read_only);
  EXPECT_EQ(before.who_signed("payload", signed_with("four")), std::nullopt);
  EXPECT_EQ((*account)->regenerate(KeyName::primary), to_base64("new"));
  const KeyRing& after = (*account)->keys();
  EXPECT_EQ(after.who_signed("payload", signed_with("one")), std::nullopt);
  EXPECT_EQ(after.who_signed("payload", signed_with("new")), Access::read_write);
  EXPECT_EQ(after.who_signed("payload", signed_with("two")), Access::read_write);
  // A request that has begun ends with the keys that it began with.
  EXPECT_EQ(before.who_signed("payload", signed_with("one")), Access::read_write);
}

TEST(AccountTest, KeysThatAreFixedStay) {
  auto account = Account::open({.primary = to_base64("one"),
                                .secondary = {},
                                .primary_readonly = {},
                                .secondary_readonly = {}},
                               "secret", {});
  ASSERT_TRUE(account);
  EXPECT_FALSE((*account)->regenerate(KeyName::primary));
  EXPECT_FALSE(Account::open({}, "secret", {}));
}

}  // namespace
}  // namespace orrery::account
