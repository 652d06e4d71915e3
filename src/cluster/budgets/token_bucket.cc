// See token_bucket.h.
#include "cluster/budgets/token_bucket.h"

#include <algorithm>
#include <cmath>

namespace orrery::cluster {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kMillisecondNs = 1'000'000;
// So that no charge, however large against the rate, leaves the range of time.
constexpr double kDebtMaxNs = 1e17;

}  // namespace

TokenBucket::TokenBucket(double rate_per_s, int64_t now_us)
    : rate_per_s_(rate_per_s), empty_at_ns_(now_us * 1000 - kSecondNs), newest_ns_(now_us * 1000) {}

int64_t TokenBucket::advance(int64_t now_us) {
  const int64_t now_ns = now_us * 1000;
  int64_t newest = newest_ns_.load(std::memory_order_relaxed);
  while (newest < now_ns) {
    if (newest_ns_.compare_exchange_weak(newest, now_ns, std::memory_order_relaxed)) return now_ns;
  }
  return newest;
}

uint32_t TokenBucket::wait_ms(int64_t now_us) {
  const int64_t now_ns = advance(now_us);
  int64_t empty_at = empty_at_ns_.load(std::memory_order_relaxed);
  while (empty_at < now_ns - kSecondNs) {
    if (empty_at_ns_.compare_exchange_weak(empty_at, now_ns - kSecondNs,
                                           std::memory_order_relaxed)) {
      return 0;
    }
  }
  if (empty_at < now_ns) return 0;
  const int64_t wait = (empty_at - now_ns + kMillisecondNs - 1) / kMillisecondNs + 1;
  return static_cast<uint32_t>(std::min<int64_t>(wait, UINT32_MAX));
}

double TokenBucket::left(int64_t now_us) {
  wait_ms(now_us);  // forgets what came in beyond one second's worth
  const int64_t held_ns = advance(now_us) - empty_at_ns_.load(std::memory_order_relaxed);
  return static_cast<double>(held_ns) / static_cast<double>(kSecondNs) * rate();
}

void TokenBucket::pay(double charge) {
  const double ns = std::min(charge / rate() * static_cast<double>(kSecondNs), kDebtMaxNs);
  empty_at_ns_.fetch_add(std::llround(ns), std::memory_order_relaxed);
}

void TokenBucket::set_rate(double rate_per_s, int64_t now_us) {
  const int64_t now_ns = advance(now_us);
  const double before = rate_per_s_.exchange(rate_per_s, std::memory_order_relaxed);
  // The same tokens, or the same debt, at the new rate.
  int64_t empty_at = empty_at_ns_.load(std::memory_order_relaxed);
  int64_t moved = 0;
  do {
    const double held_ns = static_cast<double>(std::min(now_ns - empty_at, kSecondNs));
    const double scaled =
        std::clamp(held_ns * before / rate_per_s, -kDebtMaxNs, static_cast<double>(kSecondNs));
    moved = now_ns - std::llround(scaled);
  } while (!empty_at_ns_.compare_exchange_weak(empty_at, moved, std::memory_order_relaxed));
}

}  // namespace orrery::cluster
