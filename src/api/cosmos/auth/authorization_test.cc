// Signatures: known ones are accepted, and whatever differs in one part is not.
#include "api/cosmos/auth/authorization.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/bytes.h"

namespace orrery::cosmos {
namespace {

// The emulator's well-known key, and signatures that @azure/cosmos 4.9.3 made with it.
const std::string kKey =
    "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";
const std::string kDate = "Sun, 15 Nov 2026 04:30:00 GMT";
constexpr int64_t kNow = 1'794'717'000;

account::KeyRing authorizer(const account::Keys& keys = {.primary = kKey,
                                                         .secondary = {},
                                                         .primary_readonly = {},
                                                         .secondary_readonly = {}}) {
  auto made = account::KeyRing::create(keys);
  EXPECT_TRUE(made.has_value());
  return std::move(*made);
}

ResourceAddress address_at(std::string_view path) {
  auto made = address_of(path);
  EXPECT_TRUE(made.has_value()) << path;
  return made.value_or(ResourceAddress{});
}

Result<account::Access> verify(const account::KeyRing& checker, std::string_view verb,
                               std::string_view path, std::string_view header, int64_t now = kNow) {
  const ResourceAddress at = address_at(path);
  return cosmos::verify(
      checker,
      {.verb = verb, .authorization = header, .date = kDate, .address = &at, .now_s = now});
}

TEST(Authorization, TakesWhatTheSdkSigns) {
  struct Row {
    const char* verb;
    const char* path;
    const char* header;
  };
  const account::KeyRing checker = authorizer();
  for (
      const Row& row : {
          Row{"GET", "",
              "type%3Dmaster%26ver%3D1.0%26sig%3D21RYhQdAUJxKRX%2F8mqrCvYHpBYTBUL8k0LdPEqMqy70%3D"},
          Row{"GET", "/dbs",
              "type%3Dmaster%26ver%3D1.0%26sig%3Dn0aKh%2FznzXexOkRHYmwujKq9AMSvvqyABhwgaEWVduE%3D"},
          Row{"POST", "/dbs/shop/colls",
              "type%3Dmaster%26ver%3D1.0%26sig%3DW055AuN2OHWqJW0sM1mODrWUzhq0KQLf%2BrsoQ7%2B1nsQ"
              "%3D"},
          Row{"GET", "/dbs/shop/colls/orders/docs/o%201-x",
              "type%3Dmaster%26ver%3D1.0%26sig%3DKJLgSEgS4QH2XV9XF0g1iivbfE4d6xmUxV2CHg9sAbg%3D"},
          Row{"DELETE", "/dbs/shop/colls/orders/docs/caf%C3%A9%20100%25+a&b=c'(1)",
              "type%3Dmaster%26ver%3D1.0%26sig%3Dg%2B3eI8FMS1iF45uMMWitqxSgP0ajPWpsUhaG2srsLDo%3D"},
          Row{"POST", "/dbs/Shop/colls/Orders/docs",
              "type%3Dmaster%26ver%3D1.0%26sig%3D7fHfK7fEJb3Gzug194AgTj%2F74OlArz44PepF70ojynE%3D"},
          Row{"GET", "/offers/aBcD",
              "type%3Dmaster%26ver%3D1.0%26sig%3DnrH3zddGYyhNFxzsn2AqehzYcI%2FekAOupCIbsOBdaCg%3D"},
          Row{"POST", "/offers",
              "type%3Dmaster%26ver%3D1.0%26sig%3DuyqkKJI9HANFLbMDjiBTBbljLssAkxlJj2Gom9k7qpM%3D"},
          Row{"GET", "/dbs/shop/colls/orders/pkranges",
              "type%3Dmaster%26ver%3D1.0%26sig%3D5K0QQxrBj9NLSVK22%2F8qxXxJn8bFfBOcOf5wsDMnMxo%3D"},
          Row{"POST", "/dbs/shop/colls/orders/operations/partitionkeydelete",
              "type%3Dmaster%26ver%3D1.0%26sig%3DRbBnedvECX68tThyHT3frGK31R9%2FgjwZX38kwg4mfco%3D"},
      }) {
    auto access = verify(checker, row.verb, row.path, row.header);
    ASSERT_TRUE(access.has_value()) << row.path << ": " << access.error().message;
    EXPECT_EQ(*access, account::Access::read_write);
    // The same signature is worth nothing for anything else.
    EXPECT_FALSE(verify(checker, "PUT", row.path, row.header).has_value());
    EXPECT_FALSE(verify(checker, row.verb, "/dbs/other", row.header).has_value());
  }
}

TEST(Authorization, TakesAnUnencodedHeaderAndOtherCase) {
  const account::KeyRing checker = authorizer();
  const std::string header = sign(checker, "GET", "dbs", "dbs/shop", kDate);
  EXPECT_TRUE(verify(checker, "get", "dbs/shop/", header).has_value());
  auto plain = percent_decode(header);
  ASSERT_TRUE(plain.has_value());
  EXPECT_TRUE(verify(checker, "GET", "/dbs/shop", *plain).has_value());
}

TEST(Authorization, TakesALinkSignedAsSent) {
  const account::KeyRing checker = authorizer();
  const std::string header = sign(checker, "GET", "docs", "dbs/a%20b/colls/c/docs/d%2Be", kDate);
  EXPECT_TRUE(verify(checker, "GET", "/dbs/a%20b/colls/c/docs/d%2Be", header).has_value());
  const std::string feed = sign(checker, "GET", "docs", "dbs/a%20b/colls/c", kDate);
  EXPECT_TRUE(verify(checker, "GET", "/dbs/a%20b/colls/c/docs", feed).has_value());
}

TEST(Authorization, TellsReadOnlyKeys) {
  const std::string other = to_base64(std::string(64, 'x'));
  const std::string third = to_base64(std::string(32, 'y'));
  const account::KeyRing checker =
      authorizer({.primary = kKey,
                  .secondary = other,
                  .primary_readonly = third,
                  .secondary_readonly = to_base64(std::string(100, 'z'))});
  auto signed_with = [](const std::string& key) {
    return sign(
        authorizer(
            {.primary = key, .secondary = {}, .primary_readonly = {}, .secondary_readonly = {}}),
        "GET", "dbs", "", kDate);
  };
  EXPECT_EQ(verify(checker, "GET", "/dbs", signed_with(kKey)), account::Access::read_write);
  EXPECT_EQ(verify(checker, "GET", "/dbs", signed_with(other)), account::Access::read_write);
  EXPECT_EQ(verify(checker, "GET", "/dbs", signed_with(third)), account::Access::read_only);
  EXPECT_EQ(verify(checker, "GET", "/dbs", signed_with(to_base64(std::string(100, 'z')))),
            account::Access::read_only);
  EXPECT_FALSE(verify(checker, "GET", "/dbs", signed_with(to_base64("w"))).has_value());
}

TEST(Authorization, ShowsWhatShouldHaveBeenSigned) {
  auto access = verify(authorizer(), "GET", "/dbs/Shop/colls/orders",
                       "type%3Dmaster%26ver%3D1.0%26sig%3DAAAA");
  ASSERT_FALSE(access.has_value());
  EXPECT_EQ(access.error().code, Code::unauthorized);
  EXPECT_NE(access.error().message.find(
                "get\\ncolls\\ndbs/Shop/colls/orders\\nsun, 15 nov 2026 04:30:00 gmt\\n\\n"),
            std::string::npos)
      << access.error().message;
}

TEST(Authorization, RefusesOtherTokensAndNonsense) {
  const account::KeyRing checker = authorizer();
  for (const char* header : {"", "Bearer x", "type=resource&ver=1&sig=x", "type=aad&ver=1.0&sig=x",
                             "type=master", "type=master&ver=2.0&sig=AAAA", "%", "%zz",
                             "type=master&ver=1.0&sig=", "&&&=", "type=master&ver=1.0&sig=***"}) {
    auto access = verify(checker, "GET", "/dbs", header);
    ASSERT_FALSE(access.has_value()) << header;
    EXPECT_EQ(access.error().code, Code::unauthorized);
  }
  auto sas = verify(checker, "GET", "/dbs", "type%3Dsas%26ver%3D1.0%26sig%3Dx");
  EXPECT_NE(sas.error().message.find("not supported yet"), std::string::npos);
  EXPECT_FALSE(verify(checker, "GET", "/dbs", std::string(5000, 'a')).has_value());
}

TEST(Authorization, AllowsFifteenMinutesOfSkew) {
  const account::KeyRing checker = authorizer();
  const std::string header = sign(checker, "GET", "dbs", "", kDate);
  EXPECT_TRUE(verify(checker, "GET", "/dbs", header, kNow + 900).has_value());
  EXPECT_TRUE(verify(checker, "GET", "/dbs", header, kNow - 900).has_value());
  for (const int64_t now : {kNow + 901, kNow - 901}) {
    auto access = verify(checker, "GET", "/dbs", header, now);
    ASSERT_FALSE(access.has_value());
    EXPECT_EQ(access.error().code, Code::forbidden);
    EXPECT_NE(access.error().message.find(kDate), std::string::npos);
  }
}

TEST(Authorization, NeedsADate) {
  const account::KeyRing checker = authorizer();
  const ResourceAddress at = address_at("/dbs");
  for (const char* date : {"", "yesterday"}) {
    const std::string header = sign(checker, "GET", "dbs", "", date);
    auto access = cosmos::verify(
        checker,
        {.verb = "GET", .authorization = header, .date = date, .address = &at, .now_s = kNow});
    ASSERT_FALSE(access.has_value());
    EXPECT_EQ(access.error().code, Code::unauthorized);
  }
}

TEST(Authorization, RefusesBadKeys) {
  EXPECT_FALSE(account::KeyRing::create({}).has_value());
  EXPECT_FALSE(account::KeyRing::create({.primary = "not base64!",
                                         .secondary = {},
                                         .primary_readonly = {},
                                         .secondary_readonly = {}})
                   .has_value());
}

// Not a limit to enforce on a shared machine: printed, and only absurd values fail.
TEST(Authorization, IsCheap) {
  const account::KeyRing checker = authorizer();
  const ResourceAddress at = address_at("/dbs/shop/colls/orders/docs/item-0123456789");
  const std::string header = sign(checker, "GET", at.resource_type, at.resource_link, kDate);
  constexpr int kRounds = 20'000;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kRounds; ++i) {
    ASSERT_TRUE(
        cosmos::verify(
            checker,
            {.verb = "GET", .authorization = header, .date = kDate, .address = &at, .now_s = kNow})
            .has_value());
  }
  const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - start;
  RecordProperty("microseconds_per_check", std::to_string(taken.count() / kRounds));
  std::printf("%.2f µs a check\n", taken.count() / kRounds);
  EXPECT_LT(taken.count() / kRounds, 200);
}

}  // namespace
}  // namespace orrery::cosmos
