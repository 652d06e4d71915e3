// See buffer_budget.h: reservations, waiting for them, and giving them back.
#include "net/buffer_budget.h"

#include <gtest/gtest.h>

#include <string>

namespace orrery::net {
namespace {

using Reservation = BufferBudget::Reservation;

TEST(BufferBudget, GivesUpToItsBytes) {
  BufferBudget budget(100);
  Reservation first;
  Reservation second;
  EXPECT_TRUE(budget.try_reserve(first, 60));
  EXPECT_FALSE(budget.try_reserve(second, 41));
  EXPECT_TRUE(budget.try_reserve(second, 40));
  EXPECT_EQ(budget.bytes_held(), 100U);
  first.release();
  first.release();
  EXPECT_EQ(budget.bytes_held(), 40U);
}

TEST(BufferBudget, GrowsAReservation) {
  BufferBudget budget(100);
  Reservation one;
  EXPECT_TRUE(budget.try_reserve(one, 60));
  EXPECT_TRUE(budget.try_reserve(one, 30));  // has as much
  EXPECT_EQ(one.bytes(), 60U);
  EXPECT_TRUE(budget.try_reserve(one, 100));
  EXPECT_EQ(budget.bytes_held(), 100U);
}

TEST(BufferBudget, MovesToAnotherBudget) {
  BufferBudget heads(100);
  BufferBudget bodies(100);
  Reservation one;
  EXPECT_TRUE(heads.try_reserve(one, 60));
  EXPECT_TRUE(bodies.try_reserve(one, 80));
  EXPECT_EQ(heads.bytes_held(), 0U);
  EXPECT_EQ(bodies.bytes_held(), 80U);
}

TEST(BufferBudget, ServesWaitersInOrder) {
  BufferBudget budget(100);
  Reservation holder;
  Reservation large;
  Reservation small;
  std::string order;
  ASSERT_TRUE(budget.try_reserve(holder, 50));
  EXPECT_FALSE(budget.reserve_or_queue(large, 90, [&] { order += "large "; }));
  // There would be room, but not before the one that waits.
  EXPECT_FALSE(budget.reserve_or_queue(small, 10, [&] { order += "small "; }));
  Reservation late;
  EXPECT_FALSE(budget.try_reserve(late, 1));
  EXPECT_EQ(order, "");
  holder.release();
  EXPECT_EQ(order, "large small ");
  EXPECT_EQ(large.bytes(), 90U);
  EXPECT_EQ(budget.bytes_held(), 100U);
}

TEST(BufferBudget, WaitersMayLeave) {
  BufferBudget budget(100);
  Reservation holder;
  Reservation second;
  int granted = 0;
  ASSERT_TRUE(budget.try_reserve(holder, 50));
  {
    Reservation gone;
    EXPECT_FALSE(budget.reserve_or_queue(gone, 100, [&] { granted += 100; }));
    EXPECT_FALSE(budget.reserve_or_queue(second, 50, [&] { ++granted; }));
  }
  EXPECT_EQ(granted, 1);
  EXPECT_EQ(budget.bytes_held(), 100U);
}

TEST(BufferBudget, MoreThanAllIsGivenAlone) {
  BufferBudget budget(100);
  Reservation huge;
  Reservation other;
  bool granted = false;
  ASSERT_TRUE(budget.try_reserve(huge, 50));
  ASSERT_TRUE(budget.try_reserve(huge, 1000));
  EXPECT_FALSE(budget.reserve_or_queue(other, 1, [&] { granted = true; }));
  huge.release();
  EXPECT_TRUE(granted);
}

}  // namespace
}  // namespace orrery::net
