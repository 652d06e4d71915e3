// A budget of request units: refilled at a rate, holding at most one second of it.
//
// An operation may start when the bucket is not in debt, and pays what it cost when it has run, so
// one operation may cost more than the bucket holds; the debt is then waited off. That is what
// makes a charge depend on the work done and not on an estimate.
//
// Threading: any thread.
#pragma once

#include <cstdint>

#include "base/thread_annotations.h"

namespace orrery::cluster {

class TokenBucket {
 public:
  TokenBucket(double rate_per_s, int64_t now_us);

  // How long until an operation may start; 0: now.
  uint32_t wait_ms(int64_t now_us);
  // After wait_ms said 0, so that what has come in since then hardly counts.
  void pay(double charge);
  void set_rate(double rate_per_s, int64_t now_us);
  double rate() const;

 private:
  void refill(int64_t now_us) ORRERY_REQUIRES(mutex_);

  mutable Mutex mutex_;
  double rate_per_s_ ORRERY_GUARDED_BY(mutex_);
  double tokens_ ORRERY_GUARDED_BY(mutex_);
  int64_t refilled_us_ ORRERY_GUARDED_BY(mutex_);
};

}  // namespace orrery::cluster
