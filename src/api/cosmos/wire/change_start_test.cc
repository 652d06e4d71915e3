// What a change feed may start from.
#include "api/cosmos/wire/change_start.h"

#include <gtest/gtest.h>

namespace orrery::cosmos {
namespace {

TEST(ChangeStart, BeginningNowPositionAndTime) {
  auto from = parse_change_start("", "");
  ASSERT_TRUE(from);
  EXPECT_EQ(from->position, 0U);
  EXPECT_FALSE(from->now);
  EXPECT_FALSE(from->since_s);
  for (std::string_view text : {"*", "\"*\""}) EXPECT_TRUE(parse_change_start(text, "")->now);
  for (std::string_view text : {"17", "\"17\""}) {
    EXPECT_EQ(parse_change_start(text, "")->position, 17U);
  }
  EXPECT_EQ(parse_change_start("18446744073709551615", "")->position, UINT64_MAX);
  from = parse_change_start("5", "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(from->position, 5U);
  EXPECT_EQ(from->since_s, 784'111'777);
}

TEST(ChangeStart, AnythingElseIsRefused) {
  for (std::string_view text : {"\"", "\"\"", "x", "-1", "+1", " 1", "1 ", "1.5",
                                "18446744073709551616", "\"1", "W/\"1\"", "**", "0x1"}) {
    auto from = parse_change_start(text, "");
    ASSERT_FALSE(from) << text;
    EXPECT_EQ(from.error().code, Code::invalid);
  }
  EXPECT_FALSE(parse_change_start("", "soon"));
  EXPECT_LT(parse_change_start(std::string(10'000, '9'), "").error().message.size(), 300U);
}

}  // namespace
}  // namespace orrery::cosmos
