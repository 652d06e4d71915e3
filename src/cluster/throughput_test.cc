// The rules of provisioned throughput.
#include "cluster/throughput.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace orrery::cluster {
namespace {

using testing::HasSubstr;

Status check(uint32_t units, Subject subject, bool autoscale = false, const Limits& limits = {}) {
  return check_throughput({.units = units, .autoscale = autoscale}, subject, limits);
}

TEST(Throughput, WhatIsAllowed) {
  for (Subject subject :
       {Subject::database, Subject::partitioned_container, Subject::fixed_container}) {
    for (uint32_t units : {400U, 500U, 10'000U}) EXPECT_TRUE(check(units, subject)) << units;
    EXPECT_TRUE(check(1000, subject, true));
  }
  EXPECT_TRUE(check(250'000, Subject::partitioned_container));
  EXPECT_TRUE(check(250'000, Subject::database));
}

TEST(Throughput, WhatIsRefusedAndWhy) {
  auto low = check(300, Subject::partitioned_container);
  EXPECT_EQ(low.error().code, Code::invalid);
  EXPECT_THAT(low.error().message, HasSubstr("400"));
  auto step = check(450, Subject::database);
  EXPECT_EQ(step.error().code, Code::invalid);
  EXPECT_THAT(step.error().message, HasSubstr("use 400 or 500"));
  auto fixed = check(10'100, Subject::fixed_container);
  EXPECT_EQ(fixed.error().code, Code::invalid);
  EXPECT_THAT(fixed.error().message, HasSubstr("10000"));
  auto quota = check(250'100, Subject::partitioned_container);
  EXPECT_EQ(quota.error().code, Code::quota_exceeded);
  EXPECT_THAT(quota.error().message, HasSubstr("container-throughput-max"));
  EXPECT_EQ(check(900, Subject::database, true).error().code, Code::invalid);
  EXPECT_EQ(check(1500, Subject::database, true).error().code, Code::invalid);
  EXPECT_EQ(check(0, Subject::database).error().code, Code::invalid);
}

TEST(Throughput, LimitsAreSettings) {
  Limits limits;
  limits.partitioned_throughput_min = 2500;
  limits.container_throughput_min = 700;
  EXPECT_EQ(least_throughput(Subject::partitioned_container, limits), 2500);
  EXPECT_EQ(least_throughput(Subject::fixed_container, limits), 700);
  EXPECT_EQ(least_throughput(Subject::database, limits), 700);
  EXPECT_FALSE(check(2400, Subject::partitioned_container, false, limits));
  EXPECT_TRUE(check(700, Subject::fixed_container, false, limits));
}

TEST(Throughput, A9PartitionsAreThroughputByWhatOneServesRoundedUp) {
  Limits limits;
  auto count = [&](uint32_t units) {
    return partitions_for({.units = units, .autoscale = false}, limits);
  };
  EXPECT_EQ(count(400), 1);
  EXPECT_EQ(count(10'000), 1);
  EXPECT_EQ(count(10'100), 2);
  EXPECT_EQ(count(20'000), 2);
  EXPECT_EQ(count(250'000), 25);
  limits.partition_throughput = 1;
  EXPECT_EQ(count(400), 400);
}

TEST(Throughput, ANewContainerHasMoreThanItNeeds) {
  Limits limits;
  auto count = [&](uint32_t units, bool autoscale) {
    return initial_partitions_for({.units = units, .autoscale = autoscale}, limits);
  };
  EXPECT_EQ(count(400, false), 1);
  EXPECT_EQ(count(6'000, false), 1);
  EXPECT_EQ(count(6'100, false), 2);
  EXPECT_EQ(count(25'000, false), 5);
  EXPECT_EQ(count(30'000, false), 5);
  EXPECT_EQ(count(150'000, false), 25);
  EXPECT_EQ(count(10'000, true), 1);
  EXPECT_EQ(count(25'000, true), 3);
  EXPECT_EQ(count(250'000, true), 25);
  limits.partition_throughput = 1'000;
  EXPECT_EQ(count(3'000, false), 3) << "never more for one than it serves";
}

}  // namespace
}  // namespace orrery::cluster
