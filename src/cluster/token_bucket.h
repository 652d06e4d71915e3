// A budget of units: refilled at a rate, holding at most one second of it.
//
// An operation may start when the bucket is not in debt, and pays what it cost when it has run, so
// one operation may cost more than the bucket holds; the debt is then waited off. That is what
// makes a charge depend on the work done and not on an estimate.
//
// The bucket is one point in time, the one at which it is, was or will be empty: tokens are the
// time since then at the rate. Paying moves it on, so every request costs one atomic addition.
//
// Threading: any thread, without locks. A payment that meets a change of rate may count at either.
#pragma once

#include <atomic>
#include <cstdint>

namespace orrery::cluster {

class TokenBucket {
 public:
  TokenBucket(double rate_per_s, int64_t now_us);

  // How long until an operation may start; 0: now.
  uint32_t wait_ms(int64_t now_us);
  // What it holds; less than 0 when it is in debt.
  double left(int64_t now_us);
  // After wait_ms said 0, so that what has come in since then hardly counts.
  void pay(double charge);
  void set_rate(double rate_per_s, int64_t now_us);
  double rate() const { return rate_per_s_.load(std::memory_order_relaxed); }

 private:
  // The newest time that anyone came with: time does not go back for a late one.
  int64_t advance(int64_t now_us);

  std::atomic<double> rate_per_s_;
  std::atomic<int64_t> empty_at_ns_;
  std::atomic<int64_t> newest_ns_;
};

}  // namespace orrery::cluster
