// The line that says how far a transfer is.
#include "transfer/progress.h"

#include <gtest/gtest.h>

namespace orrery::transfer {
namespace {

TEST(ProgressTest, SaysRateChargeAndTimeLeft) {
  const Standing now{.records = 1'234'567,
                     .rejected = 3,
                     .charge = 0,
                     .throttled = 12,
                     .fraction = 0.5,
                     .phase = {}};
  const Pace pace{
      .seconds = 60, .seconds_left = 3'725, .records_a_second = 20'576, .charge_a_second = 115'000};
  EXPECT_EQ(progress_line(now, pace, true),
            "[############............]  50 %  1,234,567 records  20,576/s  115,000 RU/s  "
            "12 throttled  3 rejected  1:02:05 left");
  EXPECT_EQ(
      progress_line(
          {.records = 5,
           .rejected = 0,
           .charge = 0,
           .throttled = 0,
           .fraction = {},
           .phase = "following"},
          {.seconds = 65, .seconds_left = {}, .records_a_second = 1, .charge_a_second = 5}, false),
      "5 records  1/s  5 RU/s  following  1:05");
}

}  // namespace
}  // namespace orrery::transfer
