// Versions as text, and when an item has expired.
#include "partition/item.h"

#include <gtest/gtest.h>

#include <random>

namespace orrery::partition {
namespace {

TEST(Version, TextHasTheFormOfAUuidAndReadsBack) {
  const Version version{
      .lsn = 0x456789ABCDEF, .time_s = 0x65432100, .range = 0xFEDCBA98, .step = 0x0123};
  EXPECT_EQ(to_text(version), "01234567-89ab-cdef-fedc-ba9865432100");
  EXPECT_EQ(parse_version(to_text(version)), version);
}

TEST(Version, EveryVersionReadsBack) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 1'000; ++i) {
    const Version version{.lsn = random() >> (16 + random() % 48),
                          .time_s = static_cast<uint32_t>(random()),
                          .range = static_cast<uint32_t>(random() >> (random() % 64)),
                          .step = static_cast<uint16_t>(random())};
    EXPECT_EQ(parse_version(to_text(version)), version) << to_text(version);
  }
}

TEST(Version, AnythingElseIsRefused) {
  for (std::string_view text :
       {"", "\"", "01234567-89ab-cdef-fedc-ba986543210", "01234567-89ab-cdef-fedc-ba98654321000",
        "01234567+89ab-cdef-fedc-ba9865432100", "0123456g-89ab-cdef-fedc-ba9865432100",
        "-1234567-89ab-cdef-fedc-ba9865432100", " 1234567-89ab-cdef-fedc-ba9865432100",
        "01234567-89ab-cdef-fedc-0x9865432100"}) {
    EXPECT_EQ(parse_version(text), std::nullopt) << text;
  }
}

TEST(Expiry, FollowsTheItemThenTheContainer) {
  Schema schema;
  Item item;
  item.version.time_s = 1'000;
  EXPECT_FALSE(is_expired(item, schema.default_ttl_s, 1'000'000));
  item.ttl_s = 10;
  EXPECT_FALSE(is_expired(item, schema.default_ttl_s, 1'000'000))
      << "the container has no TTL at all";
  schema.default_ttl_s = -1;
  EXPECT_FALSE(is_expired(item, schema.default_ttl_s, 1'009));
  EXPECT_TRUE(is_expired(item, schema.default_ttl_s, 1'010));
  item.ttl_s.reset();
  EXPECT_FALSE(is_expired(item, schema.default_ttl_s, 1'000'000));
  schema.default_ttl_s = 5;
  EXPECT_FALSE(is_expired(item, schema.default_ttl_s, 1'004));
  EXPECT_TRUE(is_expired(item, schema.default_ttl_s, 1'005));
  item.ttl_s = -1;
  EXPECT_FALSE(is_expired(item, schema.default_ttl_s, 1'000'000)) << "the item says never";
  item.ttl_s = INT32_MAX;
  EXPECT_FALSE(is_expired(item, schema.default_ttl_s, INT32_MAX));
}

}  // namespace
}  // namespace orrery::partition
