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

TEST(Machine, ASmallDiskKeepsAnEighthInReserve) {
  EXPECT_EQ(disk_bytes("/nowhere/at/all"), UINT64_MAX);
  EXPECT_GT(disk_bytes("/"), 0U);
  Limits large;
  fit_to_disk(100 * kGigabyte, large);
  EXPECT_EQ(large.disk_reserve_bytes, Limits().disk_reserve_bytes);
  EXPECT_EQ(large.write_buffer_bytes, Limits().write_buffer_bytes);
  Limits small;
  fit_to_disk(40ULL << 20, small);
  EXPECT_EQ(small.disk_reserve_bytes, 5ULL << 20);
  EXPECT_EQ(small.write_buffer_bytes, 5ULL << 20) << "it must fit into the reserve when flushed";
  Limits off;
  off.disk_reserve_bytes = 0;
  fit_to_disk(40ULL << 20, off);
  EXPECT_EQ(off.write_buffer_bytes, Limits().write_buffer_bytes);
}

}  // namespace
}  // namespace orrery::cli
