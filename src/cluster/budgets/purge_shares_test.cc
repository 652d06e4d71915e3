// See purge_shares.h.
#include "cluster/budgets/purge_shares.h"

#include <gtest/gtest.h>

namespace orrery::cluster {
namespace {

TEST(PurgeShares, AreAPercentageOfEachBudgetAndFollowItsRate) {
  PurgeShares shares(10);
  const auto one = std::make_shared<TokenBucket>(1000, 0);
  const auto other = std::make_shared<TokenBucket>(50, 0);
  const auto share = shares.of(one, 0);
  EXPECT_EQ(share->rate(), 100);
  EXPECT_EQ(shares.of(other, 0)->rate(), 5);
  one->set_rate(4000, 0);
  EXPECT_EQ(shares.of(one, 0), share);
  EXPECT_EQ(share->rate(), 400);
}

TEST(PurgeShares, AreAtLeastOneUnit) {
  PurgeShares shares(1);
  EXPECT_EQ(shares.of(std::make_shared<TokenBucket>(10, 0), 0)->rate(), 1);
}

TEST(PurgeShares, ADebtStaysUntilThereIsNothingToPurge) {
  PurgeShares shares(10);
  const auto budget = std::make_shared<TokenBucket>(1000, 0);
  shares.of(budget, 0)->pay(500);
  EXPECT_LT(shares.of(budget, 1'000'000)->left(1'000'000), 0);
  shares.clear();
  EXPECT_GE(shares.of(budget, 1'000'000)->left(1'000'000), 0);
}

}  // namespace
}  // namespace orrery::cluster
