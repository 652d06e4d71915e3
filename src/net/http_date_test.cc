// Dates in the three forms of HTTP, read and written, and what is not a date.
#include "net/http_date.h"

#include <gtest/gtest.h>

namespace orrery::net {
namespace {

TEST(HttpDate, WritesAndReads) {
  EXPECT_EQ(http_date(784111777), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(http_date(0), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(http_date(1'794'717'000), "Sun, 15 Nov 2026 04:30:00 GMT");
  for (const char* text : {"Sun, 06 Nov 1994 08:49:37 GMT", "sun, 06 nov 1994 08:49:37 gmt",
                           "Sun, 06 Nov 1994 08:49:37 UTC", "Sunday, 06-Nov-94 08:49:37 GMT",
                           "Sun Nov  6 08:49:37 1994"}) {
    EXPECT_EQ(parse_http_date(text), 784111777) << text;
  }
  for (int64_t at = 0; at < 4'000'000'000; at += 86'399 * 7) {
    ASSERT_EQ(parse_http_date(http_date(at)), at);
  }
}

TEST(HttpDate, RefusesTheRest) {
  for (const char* text :
       {"", "Sun", "Sun, 06 Nov 1994 08:49:37", "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 25:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ", "1994-11-06T08:49:37Z",
        "Xxx, 06 Nov 1994 08:49:37 GMT", "Someday, 06-Nov-94 08:49:37 GMT", "Sun, -6 Nov 1994",
        "Sun, 06 Nov 1994 08:49:37 EST", "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 06 N0v 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08.49.37 GMT",
        "Sun, 06-Nov-1994 08:49:37 GMT", "Sun, 0x Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37GMT "}) {
    EXPECT_FALSE(parse_http_date(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace orrery::net
