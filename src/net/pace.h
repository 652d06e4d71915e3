// The deadline of a transfer. It ends when no byte has moved for the grace period. It also ends
// when it has taken longer than the grace period plus the time that its bytes take at the minimum
// rate. So a peer cannot prolong it by moving a byte now and then.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace orrery::net {

class Pace {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void begin(Time now) {
    started_ = moved_ = now;
    bytes_ = 0;
  }
  void moved(size_t bytes, Time now) {
    if (bytes == 0) return;
    bytes_ += bytes;
    moved_ = now;
  }

  Time deadline(std::chrono::milliseconds grace, uint64_t bytes_per_second) const {
    const auto earned = std::chrono::milliseconds(bytes_ * 1000 / bytes_per_second);
    return std::min(moved_, started_ + earned) + grace;
  }

 private:
  Time started_;
  Time moved_;  // when the last byte did
  uint64_t bytes_ = 0;
};

}  // namespace orrery::net
