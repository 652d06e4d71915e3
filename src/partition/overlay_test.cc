// What a transaction that fails leaves of the values that a run has written: those at its mark.
#include <gtest/gtest.h>

#include <string>

#include "partition/run.h"

namespace orrery::partition {
namespace {

TEST(OverlayTest, GoesBackToTheMarkHoweverOftenAValueWasSet) {
  Overlay<std::string> overlay;
  overlay.mark();
  overlay.set("a", "1");
  overlay.mark();
  overlay.set("a", "2");
  overlay.set("a", "3");
  overlay.set("b", "1");
  overlay.set("b", "2");
  overlay.roll_back();
  ASSERT_NE(overlay.find("a"), nullptr);
  EXPECT_EQ(*overlay.find("a"), "1");
  EXPECT_EQ(overlay.find("b"), nullptr);
  overlay.mark();
  overlay.set("a", "4");
  overlay.mark();
  overlay.set("a", "5");
  overlay.roll_back();
  EXPECT_EQ(*overlay.find("a"), "4");
}

TEST(OverlayTest, FindsItsWayBackAfterItHasGrown) {
  Overlay<int> overlay;
  overlay.mark();
  overlay.set("a", 1);
  overlay.mark();
  overlay.set("a", 2);
  for (int i = 0; i < 10'000; ++i) overlay.set("k" + std::to_string(i), i);
  overlay.roll_back();
  EXPECT_EQ(*overlay.find("a"), 1);
  EXPECT_EQ(overlay.size(), 1U);
}

}  // namespace
}  // namespace orrery::partition
