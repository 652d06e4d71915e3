// See machine.h.
#include "cli/machine.h"

#include <gtest/gtest.h>

namespace orrery::cli {
namespace {

constexpr uint64_t kGigabyte = 1ULL << 30;

TEST(Machine, HasMemory) {
  EXPECT_GT(usable_memory_bytes(), 64ULL << 20);
}

TEST(Machine, ACacheIsAQuarterOfTheMemoryWithinBounds) {
  EXPECT_EQ(default_cache_bytes(2 * kGigabyte), kGigabyte / 2);
  EXPECT_EQ(default_cache_bytes(64 * kGigabyte), kGigabyte);
  EXPECT_EQ(default_cache_bytes(16ULL << 20), 32ULL << 20);
}

TEST(Machine, BuffersAreASixteenthOfTheMemoryOrMore) {
  EXPECT_EQ(default_buffer_bytes(16 * kGigabyte), kGigabyte);
  EXPECT_EQ(default_buffer_bytes(kGigabyte / 2), 64ULL << 20);
}

}  // namespace
}  // namespace orrery::cli
