// See token_bucket.h: an operation starts while there is no debt, and debt is waited off.
#include "cluster/budgets/token_bucket.h"

#include <gtest/gtest.h>

namespace orrery::cluster {
namespace {

constexpr int64_t kSecond = 1'000'000;

TEST(TokenBucket, StartsWithOneSecond) {
  TokenBucket bucket(400, 0);
  EXPECT_EQ(bucket.wait_ms(0), 0);
  bucket.pay(399);
  EXPECT_EQ(bucket.wait_ms(0), 0);
  bucket.pay(1);
  EXPECT_GT(bucket.wait_ms(0), 0);
}

TEST(TokenBucket, TellsWhatIsLeft) {
  TokenBucket bucket(400, 0);
  EXPECT_DOUBLE_EQ(bucket.left(0), 400);
  bucket.pay(100);
  EXPECT_DOUBLE_EQ(bucket.left(0), 300);
  bucket.pay(500);
  EXPECT_DOUBLE_EQ(bucket.left(0), -200);
  EXPECT_DOUBLE_EQ(bucket.left(kSecond), 200);
  // However long nobody came: one second's worth, and a payment counts against that.
  EXPECT_DOUBLE_EQ(bucket.left(100 * kSecond), 400);
  bucket.pay(100);
  EXPECT_DOUBLE_EQ(bucket.left(100 * kSecond), 300);
}

TEST(TokenBucket, DebtIsWaitedOff) {
  TokenBucket bucket(400, 0);
  bucket.pay(1200);  // 800 of debt: two seconds
  const uint32_t wait = bucket.wait_ms(0);
  EXPECT_EQ(wait, 2001);
  EXPECT_GT(bucket.wait_ms(kSecond), 0);
  EXPECT_GT(bucket.wait_ms((wait - 2) * 1000), 0);
  EXPECT_EQ(bucket.wait_ms(wait * 1000), 0);
}

TEST(TokenBucket, HoldsNoMoreThanOneSecond) {
  TokenBucket bucket(100, 0);
  EXPECT_EQ(bucket.wait_ms(3600 * kSecond), 0);
  bucket.pay(100);
  EXPECT_GT(bucket.wait_ms(3600 * kSecond), 0);
}

TEST(TokenBucket, ServesItsRateOverTime) {
  TokenBucket bucket(500, 0);
  double served = 0;
  for (int64_t now = 0; now < 10 * kSecond; now += 1000) {
    if (bucket.wait_ms(now) > 0) continue;
    bucket.pay(7);
    served += 7;
  }
  EXPECT_NEAR(served, 500 + 10 * 500, 20);
}

TEST(TokenBucket, TheRateChangesAtAnyTime) {
  TokenBucket bucket(100, 0);
  bucket.set_rate(1000, 0);
  EXPECT_EQ(bucket.rate(), 1000);
  bucket.pay(100);
  EXPECT_GT(bucket.wait_ms(0), 0) << "a higher rate is not a gift";
  EXPECT_EQ(bucket.wait_ms(kSecond), 0);
  bucket.set_rate(10, kSecond);
  bucket.pay(10);
  EXPECT_GT(bucket.wait_ms(kSecond), 0) << "what was saved at the higher rate is gone";
}

TEST(TokenBucket, TimeThatGoesBackChangesNothing) {
  TokenBucket bucket(100, 5 * kSecond);
  bucket.pay(150);
  const uint32_t wait = bucket.wait_ms(5 * kSecond);
  EXPECT_EQ(bucket.wait_ms(4 * kSecond), wait);
}

}  // namespace
}  // namespace orrery::cluster
