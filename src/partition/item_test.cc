// When an item has expired.
#include "partition/item.h"

#include <gtest/gtest.h>

namespace orrery::partition {
namespace {

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
