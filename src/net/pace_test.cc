// See pace.h: how long bytes may take to move.
#include "net/pace.h"

#include <gtest/gtest.h>

namespace orrery::net {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kGrace{500};

TEST(Pace, GivesTimeForBytesAndNotForTheirNumber) {
  const Pace::Time start;
  Pace pace;
  pace.begin(start);
  EXPECT_EQ(pace.deadline(kGrace, 1000), start + kGrace);
  for (int i = 0; i < 10; ++i) pace.moved(1, start + milliseconds(400));
  EXPECT_EQ(pace.deadline(kGrace, 1000), start + kGrace + milliseconds(10));
  pace.moved(4'000'000, start + milliseconds(450));
  EXPECT_EQ(pace.deadline(kGrace, 1000), start + kGrace + milliseconds(450));
}

TEST(Pace, WhatMovedBeforeDoesNotExcuseSilence) {
  const Pace::Time start;
  Pace pace;
  pace.begin(start);
  pace.moved(1'000'000, start);
  pace.moved(0, start + milliseconds(100));
  EXPECT_EQ(pace.deadline(kGrace, 1000), start + kGrace);
  pace.begin(start + milliseconds(9));
  EXPECT_EQ(pace.deadline(kGrace, 1000), start + kGrace + milliseconds(9));
}

}  // namespace
}  // namespace orrery::net
