// See descriptors.h: what few descriptors leave of the limits.
#include "cli/descriptors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace orrery::cli {
namespace {

// What they may all take at once.
uint64_t taken(const Limits& limits) {
  return limits.connections + (limits.open_partitions + 3) * (limits.partition_files + 2);
}

TEST(Descriptors, ManyLeaveTheLimitsAsTheyAre) {
  Limits limits;
  auto lowered = fit_descriptors(1ULL << 20, 8, 8, limits);
  ASSERT_TRUE(lowered);
  EXPECT_FALSE(*lowered);
  EXPECT_EQ(limits.connections, Limits().connections);
  EXPECT_EQ(limits.open_partitions, Limits().open_partitions);
  EXPECT_GT(limits.partition_files, 500U);
  EXPECT_LT(taken(limits), 1ULL << 20);
}

TEST(Descriptors, FewPartitionsMayHaveAllTheirFiles) {
  Limits limits;
  limits.open_partitions = 100;
  ASSERT_TRUE(fit_descriptors(1ULL << 20, 8, 8, limits));
  EXPECT_EQ(limits.partition_files, 2'000U);
}

TEST(Descriptors, NeverMoreThanThereAre) {
  for (const uint64_t descriptors : {256, 512, 1'000, 1'024, 4'096, 10'000, 30'000}) {
    Limits limits;
    auto lowered = fit_descriptors(descriptors, 2, 4, limits);
    ASSERT_TRUE(lowered) << descriptors;
    EXPECT_TRUE(*lowered) << descriptors;
    EXPECT_LT(taken(limits), descriptors);
    EXPECT_GE(limits.connections, 16U);
    EXPECT_GE(limits.open_partitions, 4U);
    EXPECT_GE(limits.partition_files, 20U);
  }
}

TEST(Descriptors, TooFewAreRefused) {
  Limits limits;
  auto lowered = fit_descriptors(64, 2, 4, limits);
  ASSERT_FALSE(lowered);
  EXPECT_THAT(lowered.error().message, testing::HasSubstr("ulimit -n"));
}

TEST(Descriptors, SmallLimitsStay) {
  Limits limits;
  limits.connections = 5;
  limits.open_partitions = 8;
  auto lowered = fit_descriptors(1'024, 2, 4, limits);
  ASSERT_TRUE(lowered);
  EXPECT_FALSE(*lowered);
  EXPECT_EQ(limits.connections, 5U);
  EXPECT_EQ(limits.open_partitions, 8U);
}

}  // namespace
}  // namespace orrery::cli
