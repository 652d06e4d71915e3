// See budgets.h: who may start, who is refused or told to be late, and what is counted.
#include "cluster/budgets/budgets.h"

#include <gtest/gtest.h>

namespace orrery::cluster {
namespace {

class BudgetsTest : public testing::Test {
 protected:
  BudgetsTest() {
    slot_->own_budget = std::make_shared<TokenBucket>(100, clock_.steady_us());
    routing_.slots.push_back(slot_);
    clock_.advance_ms(5'000);  // the bucket is full
  }

  ManualClock clock_;
  std::shared_ptr<Slot> slot_ =
      std::make_shared<Slot>(1, catalog::PartitionRange{7, "", "\xFF", {}, ""});
  Routing routing_;
};

TEST_F(BudgetsTest, EnforcedABudgetInDebtRefusesAndSaysForHowLong) {
  const Budgets budgets(clock_, Throttling::enforce);
  EXPECT_EQ(budgets.admit(routing_, *slot_).value(), 0U);
  Budgets::pay(routing_, *slot_, 150);
  auto refused = budgets.admit(routing_, *slot_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::throttled);
  EXPECT_EQ(refused.error().retry_after_ms, 501U);
  EXPECT_NE(refused.error().message.find("range 7 may use 100 units"), std::string::npos)
      << refused.error().message;
  EXPECT_EQ(slot_->counters.throttled, 1U);
  EXPECT_EQ(slot_->counters.charge, 150);
  clock_.advance_ms(501);
  EXPECT_EQ(budgets.admit(routing_, *slot_).value(), 0U);
  EXPECT_EQ(slot_->counters.throttled, 1U);
}

TEST_F(BudgetsTest, ReportedItIsServedAndCountedByAdmitAlone) {
  const Budgets budgets(clock_, Throttling::report);
  ASSERT_EQ(budgets.ask(routing_, *slot_).value(), 0U);
  Budgets::pay(routing_, *slot_, 150);
  EXPECT_EQ(budgets.ask(routing_, *slot_).value(), 501U);
  EXPECT_EQ(slot_->counters.throttled, 0U);
  EXPECT_EQ(budgets.admit(routing_, *slot_).value(), 501U);
  EXPECT_EQ(slot_->counters.throttled, 1U);
}

TEST_F(BudgetsTest, ASharedBudgetIsAskedAndPaidInPlaceOfTheSlots) {
  const Budgets budgets(clock_, Throttling::enforce);
  routing_.shared_budget = std::make_shared<TokenBucket>(1000, clock_.steady_us());
  Budgets::pay(routing_, *slot_, 1500);
  EXPECT_FALSE(budgets.ask(routing_, *slot_));
  EXPECT_GT(slot_->own_budget->left(clock_.steady_us()), 0);
  EXPECT_LT(routing_.shared_budget->left(clock_.steady_us()), 0);
}

TEST_F(BudgetsTest, AskingNotesThatThePartitionIsInUse) {
  const Budgets budgets(clock_, Throttling::report);
  clock_.advance_ms(5'000);
  ASSERT_TRUE(budgets.ask(routing_, *slot_));
  EXPECT_EQ(slot_->last_used_us, clock_.steady_us());
}

}  // namespace
}  // namespace orrery::cluster
