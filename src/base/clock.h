// Time comes in through a constructor, so that tests can move it.
//
// Wall time (now_ms) stamps items and decides expiry: it may jump. Steady time (steady_us) fills
// token buckets and measures: it never goes back.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace orrery {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual int64_t now_ms() const = 0;
  int64_t now_s() const { return now_ms() / 1000; }
  virtual int64_t steady_us() const = 0;
};

class RealClock final : public Clock {
 public:
  int64_t now_ms() const override {
    using std::chrono::system_clock;
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               system_clock::now().time_since_epoch())
        .count();
  }
  int64_t steady_us() const override {
    using std::chrono::steady_clock;
    return std::chrono::duration_cast<std::chrono::microseconds>(
               steady_clock::now().time_since_epoch())
        .count();
  }
};

// For tests: stands still until it is moved.
class ManualClock final : public Clock {
 public:
  int64_t now_ms() const override { return now_ms_.load(); }
  int64_t steady_us() const override { return steady_us_.load(); }
  void set_now_s(int64_t now_s) { now_ms_ = now_s * 1000; }
  void advance_ms(int64_t ms) {
    steady_us_ += ms * 1000;
    now_ms_ = kBaseMs + steady_us_.load() / 1000;
  }

 private:
  static constexpr int64_t kBaseMs = 1'700'000'000'000;
  std::atomic<int64_t> steady_us_{0};
  std::atomic<int64_t> now_ms_{kBaseMs};
};

}  // namespace orrery
