// A clock that a test moves while the server runs. Never in a normal start: only a process whose
// environment names a file in ORRERY_TEST_CLOCK has it, and its log says so.
//
// The file holds two signed integers of 8 bytes, in the machine's byte order: the seconds to add to
// wall time; and steady time in microseconds, at which it stands still, or 0 for the real one. It
// is mapped into memory, so what a test writes there holds for everything that comes after. A test
// writes in place and never makes the file shorter.
//
// It is the engine's clock: the times of items, expiry, how long history is kept, how budgets are
// filled up. The dates of requests and the time that a query takes are by the real clock, so that
// clients need not know of this one.
//
// May be called from any thread.
#pragma once

#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "base/result.h"

namespace orrery::cli {

class TestClock final : public Clock {
 public:
  struct Settings {
    int64_t offset_s;
    int64_t stopped_us;
  };

  // By the environment; null when it asks for none.
  static Result<std::unique_ptr<TestClock>> from_environment();
  static Result<std::unique_ptr<TestClock>> open(const char* path);

  // `settings` is mapped memory, which it unmaps at its end.
  explicit TestClock(Settings* settings) : settings_(settings) {}
  TestClock(const TestClock&) = delete;
  TestClock& operator=(const TestClock&) = delete;
  ~TestClock() override;

  int64_t now_ms() const override;
  int64_t steady_us() const override;

 private:
  RealClock real_;
  Settings* settings_;
};

}  // namespace orrery::cli
