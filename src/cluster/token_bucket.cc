// See token_bucket.h.
#include "cluster/token_bucket.h"

#include <algorithm>
#include <cmath>

namespace orrery::cluster {

TokenBucket::TokenBucket(double rate_per_s, int64_t now_us)
    : rate_per_s_(rate_per_s), tokens_(rate_per_s), refilled_us_(now_us) {}

void TokenBucket::refill(int64_t now_us) {
  if (now_us <= refilled_us_) return;
  tokens_ = std::min(rate_per_s_,
                     tokens_ + rate_per_s_ * static_cast<double>(now_us - refilled_us_) / 1e6);
  refilled_us_ = now_us;
}

uint32_t TokenBucket::wait_ms(int64_t now_us) {
  MutexLock lock(mutex_);
  refill(now_us);
  if (tokens_ > 0) return 0;
  return static_cast<uint32_t>(std::ceil((-tokens_ / rate_per_s_) * 1000)) + 1;
}

void TokenBucket::pay(double charge) {
  MutexLock lock(mutex_);
  tokens_ -= charge;
}

void TokenBucket::set_rate(double rate_per_s, int64_t now_us) {
  MutexLock lock(mutex_);
  refill(now_us);
  rate_per_s_ = rate_per_s;
  tokens_ = std::min(tokens_, rate_per_s);
}

double TokenBucket::rate() const {
  MutexLock lock(mutex_);
  return rate_per_s_;
}

}  // namespace orrery::cluster
