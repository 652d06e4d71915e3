// When an item has expired.
#include "partition/item.h"

#include <gtest/gtest.h>

namespace orrery::partition {
namespace {

bool expired(const Lifetime& lifetime, std::optional<int64_t> default_life_ms, int64_t now_ms) {
  constexpr uint32_t kWrittenS = 1'000;
  Item item;
  item.expiry = expiry_of(lifetime, kWrittenS);
  return is_expired(item, default_life_ms, now_ms);
}

TEST(Expiry, FollowsTheItemThenTheContainer) {
  constexpr int64_t kLate = 1'000'000'000;
  EXPECT_FALSE(expired({}, std::nullopt, kLate));
  EXPECT_FALSE(expired({.ms = 10'000}, std::nullopt, kLate)) << "nothing in the container expires";
  EXPECT_FALSE(expired({.ms = 10'000}, Lifetime::kForever, 1'009'999));
  EXPECT_TRUE(expired({.ms = 10'000}, Lifetime::kForever, 1'010'000));
  EXPECT_FALSE(expired({}, Lifetime::kForever, kLate));
  EXPECT_FALSE(expired({}, 5'000, 1'004'999));
  EXPECT_TRUE(expired({}, 5'000, 1'005'000));
  EXPECT_TRUE(expired({}, 1, 1'000'001));
  EXPECT_FALSE(expired({.ms = Lifetime::kForever}, 5'000, kLate)) << "the item says never";
}

TEST(Expiry, CountsFromTheTimeThatIsGiven) {
  // An absolute time, to the millisecond.
  EXPECT_FALSE(expired({.ms = 0, .from_ms = 1'234'567}, Lifetime::kForever, 1'234'566));
  EXPECT_TRUE(expired({.ms = 0, .from_ms = 1'234'567}, Lifetime::kForever, 1'234'567));
  // A date in the item, and a life that the container may change later.
  const Lifetime dated{.from_ms = 500'000};
  EXPECT_FALSE(expired(dated, 600'000, 1'099'999));
  EXPECT_TRUE(expired(dated, 600'000, 1'100'000));
  EXPECT_TRUE(expired(dated, 1'000, 1'099'999));
  EXPECT_TRUE(expired({.ms = 5, .from_ms = -10}, Lifetime::kForever, 0)) << "before 1970";
}

TEST(Expiry, ATimeBeyondAllTimeNeverComes) {
  EXPECT_FALSE(expired({.ms = INT64_MAX, .from_ms = 1}, Lifetime::kForever, INT64_MAX));
  EXPECT_FALSE(expired({.from_ms = INT64_MAX}, 1, INT64_MAX));
}

}  // namespace
}  // namespace orrery::partition
