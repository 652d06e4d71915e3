// What a sample of accesses says about where to cut.
#include "cluster/splitting/load_sample.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace orrery::cluster {
namespace {

using Access = LoadSample::Access;

std::string key(int number) {
  return fmt::format("k{:06}", number);
}

TEST(LoadSample, HalvesTheLoad) {
  LoadSample sample;
  EXPECT_EQ(sample.half(), "") << "nothing is known";
  for (int i = 0; i < 10'000; ++i) sample.note(key(i % 100), Access::read);
  EXPECT_EQ(sample.size(), LoadSample::kMax);
  EXPECT_GT(sample.half(), key(25));
  EXPECT_LT(sample.half(), key(75));
}

TEST(LoadSample, FollowsTheLoadWhereItGoes) {
  LoadSample sample;
  for (int i = 0; i < 1'000; ++i) sample.note(key(i % 100), Access::read);
  for (int i = 0; i < 10'000; ++i) sample.note(key(900 + i % 10), Access::read);
  EXPECT_GE(sample.half(), key(901));
}

TEST(LoadSample, AccessesInTurnAreSampledEvenly) {
  for (int keys : {2, 8, 16, 64}) {
    LoadSample sample;
    for (int i = 0; i < 10'000; ++i) sample.note(key(i % keys), Access::read);
    EXPECT_GT(sample.half(), key(keys / 4 - 1)) << keys;
    EXPECT_LE(sample.half(), key(keys * 3 / 4 + 1)) << keys;
  }
}

TEST(LoadSample, OneKeyCannotBeHalved) {
  LoadSample sample;
  for (int i = 0; i < 100; ++i) sample.note("hot", Access::write);
  EXPECT_EQ(sample.half(), "");
  sample.note("other", Access::write);
  for (int i = 0; i < 20 && sample.half().empty(); ++i) sample.note("other", Access::write);
  EXPECT_EQ(sample.half(), "other");
}

TEST(LoadSample, TellsWhereItGrows) {
  LoadSample sample;
  for (int i = 0; i < 5'000; ++i) sample.note(key(i % 50), Access::read);
  EXPECT_EQ(sample.growth(), "") << "reads do not make it grow";
  for (int i = 0; i < 5'000; ++i) {
    sample.note(key(i), Access::write);
    sample.note(key(i % 50), Access::read);
  }
  EXPECT_GT(sample.growth(), key(4'000));
}

TEST(LoadSample, ChildrenTakeTheirsAlong) {
  LoadSample parent;
  for (int i = 0; i < 60; ++i) parent.note(key(i), Access::write);
  LoadSample left, right;
  left.adopt(parent, "", key(20));
  right.adopt(parent, key(20), "\xFF");
  EXPECT_EQ(left.size(), 20U);
  EXPECT_EQ(right.size(), 40U);
  EXPECT_EQ(left.half(), key(10));
  EXPECT_EQ(right.half(), key(40));
}

}  // namespace
}  // namespace orrery::cluster
