// How long a transfer may take: never longer than a grace without any byte, and in all no longer
// than that grace and what the bytes that have moved take at the least rate. A peer that moves one
// byte now and then does not get more time by it.
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
