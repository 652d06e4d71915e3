// See response_head.h.
#include "net/response_head.h"

#include <gtest/gtest.h>

namespace orrery::net {
namespace {

TEST(ResponseHead, EveryStatusHasAPhrase) {
  EXPECT_EQ(reason_phrase(100), "Continue");
  EXPECT_EQ(reason_phrase(200), "OK");
  EXPECT_EQ(reason_phrase(429), "Too Many Requests");
  EXPECT_EQ(reason_phrase(449), "Retry With");
  EXPECT_EQ(reason_phrase(507), "Insufficient Storage");
  for (const int status : {-1, 0, 99, 203, 599, 600, 10'000}) {
    EXPECT_EQ(reason_phrase(status), "Unknown") << status;
  }
}

TEST(ResponseHead, HasItsLinesInOrder) {
  std::string out;
  append_head(out, {.status = 404,
                    .headers = "A: b\r\n",
                    .date_line = date_line(784111777),
                    .content_length = 12,
                    .connection = "close"});
  EXPECT_EQ(out,
            "HTTP/1.1 404 Not Found\r\nA: b\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
            "Content-Length: 12\r\nConnection: close\r\n\r\n");
}

}  // namespace
}  // namespace orrery::net
