// When a request is sent again.
#include "client/retry.h"

#include <gtest/gtest.h>

namespace orrery::client {
namespace {

Response answer(int status, std::string retry_after_ms = "") {
  Response response;
  response.status = status;
  if (!retry_after_ms.empty()) {
    response.headers.emplace_back("x-ms-retry-after-ms", std::move(retry_after_ms));
  }
  return response;
}

TEST(RetryTest, ThrottledWaitsAsLongAsTheServerSays) {
  Attempts attempts;
  EXPECT_EQ(wait_after(answer(429, "120"), attempts, 1'000, 0, 0, 0), 120);
  EXPECT_EQ(wait_after(answer(429, "880"), attempts, 1'000, 0, 0, 0), 880);
  // The patience is used up.
  EXPECT_EQ(wait_after(answer(429, "1"), attempts, 1'000, 0, 0, 0), std::nullopt);
}

TEST(RetryTest, AServerThatIsAwayIsAskedAgainForAWhile) {
  Attempts attempts;
  int64_t now = 10'000;
  int64_t last = 0;
  int tries = 0;
  while (const auto wait = wait_after_failure(attempts, 3'000, now, 0)) {
    EXPECT_GE(*wait, last);
    last = *wait;
    now += *wait;
    ASSERT_LT(++tries, 100);
  }
  EXPECT_GT(tries, 3);
  EXPECT_LE(now, 13'000);
}

TEST(RetryTest, OtherAnswersAreFinal) {
  Attempts attempts;
  for (const int status : {200, 201, 304, 400, 401, 403, 404, 409, 410, 412, 413, 500}) {
    EXPECT_EQ(wait_after(answer(status), attempts, 1'000, 1'000, 0, 0), std::nullopt) << status;
  }
}

TEST(RetryTest, WaitsHaveABound) {
  for (uint32_t attempt = 0; attempt < 100; ++attempt) {
    for (const uint64_t jitter : {0ULL, 7ULL, ~0ULL}) {
      EXPECT_GT(backoff_ms(attempt, jitter), 0);
      EXPECT_LE(backoff_ms(attempt, jitter), kMaxWaitMs);
    }
  }
}

}  // namespace
}  // namespace orrery::client
