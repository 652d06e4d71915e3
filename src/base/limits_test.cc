// Limits are set by name, with units, and refused with a word on what would work.
#include "base/limits.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

TEST(LimitsTest, SetsByNameWithUnits) {
  Limits limits;
  ASSERT_TRUE(limits.set("physical-partition-bytes=1M"));
  EXPECT_EQ(limits.physical_partition_bytes, 1u << 20);
  ASSERT_TRUE(limits.set("partition-throughput", "500"));
  EXPECT_EQ(limits.partition_throughput, 500u);
}

TEST(LimitsTest, RefusesWhatItCannotTake) {
  Limits limits;
  for (const char* bad : {"item-bytes", "item-bytes=", "item-bytes=x", "item-bytes=1.5",
                          "item-bytes=-1", "item-bytes=99999999999999999999",
                          "item-bytes=18446744073709551615G", "no-such=1", "item-bytes=1"}) {
    auto status = limits.set(bad);
    ASSERT_FALSE(status) << bad;
    EXPECT_EQ(status.error().code, Code::invalid);
    EXPECT_FALSE(status.error().message.empty());
  }
  EXPECT_EQ(limits.item_bytes, Limits().item_bytes);
}

TEST(LimitsTest, ListsEveryLimitWithHelp) {
  for (const auto& entry : Limits().list()) {
    EXPECT_FALSE(entry.help.empty()) << entry.name;
    Limits copy;
    EXPECT_TRUE(copy.set(entry.name, std::to_string(entry.value))) << entry.name;
  }
}

}  // namespace
}  // namespace orrery
