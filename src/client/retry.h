// When a request is sent again: the rules, apart from who sends it. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "client/message.h"

namespace orrery::client {

struct Attempts {
  uint32_t throttled = 0;
  uint32_t failed = 0;  // of other kinds
  int64_t waited_throttled_ms = 0;
  int64_t first_failed_ms = 0;  // when; meaningful while failed > 0
};

inline constexpr int64_t kFirstWaitMs = 50;
inline constexpr int64_t kMaxWaitMs = 5'000;

// 50, 100, 200, … ms, at most 5 s; less up to a quarter by `jitter` (any number), so that many who
// wait do not come back at once.
inline int64_t backoff_ms(uint32_t attempt, uint64_t jitter) {
  const int64_t wait = std::min(kMaxWaitMs, kFirstWaitMs << std::min(attempt, 10U));
  return wait - static_cast<int64_t>(jitter % static_cast<uint64_t>(wait / 4 + 1));
}

// How long to wait after this answer before the request is sent again; nothing: the answer is
// final.
inline std::optional<int64_t> wait_after(const Response& response, Attempts& attempts,
                                         int64_t throttled_ms, int64_t away_ms, int64_t now_ms,
                                         uint64_t jitter) {
  if (response.is_throttled()) {
    const int64_t named = response.retry_after_ms();
    const int64_t wait =
        std::max(named, named == 0 ? backoff_ms(attempts.throttled, jitter) : int64_t{1}) +
        static_cast<int64_t>(jitter % 8);
    if (attempts.waited_throttled_ms + wait > throttled_ms) return std::nullopt;
    ++attempts.throttled;
    attempts.waited_throttled_ms += wait;
    return wait;
  }
  if (response.status != 503 && response.status != 449 && response.status != 408) {
    return std::nullopt;
  }
  if (attempts.failed == 0) attempts.first_failed_ms = now_ms;
  const int64_t wait = backoff_ms(attempts.failed, jitter);
  if (now_ms + wait - attempts.first_failed_ms > away_ms) return std::nullopt;
  ++attempts.failed;
  return wait;
}

// The same after a connection that failed.
inline std::optional<int64_t> wait_after_failure(Attempts& attempts, int64_t away_ms,
                                                 int64_t now_ms, uint64_t jitter) {
  return wait_after({.status = 503, .headers = {}, .body = {}}, attempts, 0, away_ms, now_ms,
                    jitter);
}

}  // namespace orrery::client
