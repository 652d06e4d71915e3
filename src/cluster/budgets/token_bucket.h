// A token bucket of units: refilled at a rate, with a capacity of one second of it.
//
// An operation may start when the bucket is not in debt, and pays its actual cost when it has run.
// So one operation can cost more than the bucket holds, and later ones wait until the debt is
// repaid. This way a charge depends on the work done and not on an estimate.
//
// The state is one point in time: when the bucket was or will be empty. The tokens are the time
// since then, multiplied by the rate. A payment moves the point forward with one atomic addition.
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
  // Call after wait_ms() returned 0: that caps the bucket at its capacity, and this does not.
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
