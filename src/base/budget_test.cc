// See budget.h: what is charged, and what happens when it is used up.
#include "base/budget.h"

#include <gtest/gtest.h>

#include <memory>

namespace orrery {
namespace {

using Ended = Budget::Ended;

TEST(Budget, AsksForTimeEverySoManySteps) {
  Budget budget;
  int asked = 0;
  budget.start({.stop = [&] { return ++asked == 3; }});
  uint64_t steps = 0;
  while (!budget.spend(1)) ++steps;
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(budget.ended(), Ended::time);
  EXPECT_GE(steps, 2 * Budget::kStepsBetweenLooks);
  EXPECT_LE(steps, 3 * Budget::kStepsBetweenLooks);
  EXPECT_TRUE(budget.spend(1));
  EXPECT_FALSE(budget.has_room(0));
  EXPECT_EQ(asked, 3);  // once over it stays so, and nobody is asked again
}

TEST(Budget, AsksForTimeOnlyAfterItsFreeSteps) {
  Budget budget;
  budget.start({.stop = [] { return true; }, .free_steps = 100'000});
  EXPECT_FALSE(budget.spend(99'999));
  EXPECT_TRUE(budget.spend(1 + Budget::kStepsBetweenLooks));
  EXPECT_EQ(budget.ended(), Ended::time);
}

TEST(Budget, ManyStepsAtOnceAreLookedAtOnce) {
  Budget budget;
  bool is_up = false;
  budget.start({.stop = [&] { return is_up; }});
  EXPECT_FALSE(budget.spend(1'000'000));
  EXPECT_EQ(budget.steps(), 1'000'000U);
  is_up = true;
  EXPECT_TRUE(budget.spend(1'000'000));
  EXPECT_EQ(budget.steps(), 2'000'000U);
}

TEST(Budget, EndsAfterItsSteps) {
  for (const uint64_t most : {0U, 1U, 10U, 4096U, 10'000U}) {
    Budget budget;
    budget.start({.steps = most});
    uint64_t steps = 0;
    while (!budget.spend(1)) ++steps;
    EXPECT_EQ(steps, most);
    EXPECT_EQ(budget.ended(), Ended::time);
  }
}

TEST(Budget, CountsWhatIsInUse) {
  const CountedBytes before(1 << 20);
  Budget budget;
  budget.start({.bytes = 1000});
  EXPECT_TRUE(budget.has_room(1000));
  auto used = std::make_unique<CountedBytes>(600);
  EXPECT_TRUE(budget.has_room(400));
  used.reset();
  {
    Held held(budget);
    held.add(900);
    EXPECT_TRUE(budget.has_room(100));
  }
  EXPECT_TRUE(budget.has_room(1000));
  used = std::make_unique<CountedBytes>(1001);
  EXPECT_FALSE(budget.is_over());
  EXPECT_TRUE(budget.spend(Budget::kStepsBetweenLooks));
  EXPECT_EQ(budget.ended(), Ended::memory);
  budget.start({.bytes = 1000});
  EXPECT_FALSE(budget.has_room(1001));
  EXPECT_EQ(budget.ended(), Ended::memory);
}

}  // namespace
}  // namespace orrery
