// The alarm's thread sleeps until the deadline that it knows. A later deadline does not wake it:
// the thread looks for one when it wakes. So an execution that ends in time causes no wake-up.
#include "script/alarm.h"

#include <js/Interrupt.h>
#include <unistd.h>

#include <chrono>

#include "base/clock.h"
#include "script/worker.h"

namespace orrery::script {
namespace {

constexpr int64_t kRepeatUs = 20'000;

}  // namespace

Alarm::Alarm(JSContext* cx) : cx_(cx), thread_([this] { watch(); }) {}

Alarm::~Alarm() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    wake_.notify_one();
  }
  thread_.join();
}

void Alarm::set(int64_t deadline_us) {
  MutexLock lock(mutex_);
  deadline_us_ = deadline_us;
  if (deadline_us < sleeping_until_us_) wake_.notify_one();
}

void Alarm::silence() {
  MutexLock lock(mutex_);
  deadline_us_ = 0;
}

void Alarm::watch() {
  MutexLock lock(mutex_);
  while (!stopping_) {
    const int64_t now_us = RealClock().steady_us();
    if (deadline_us_ == 0) {
      sleeping_until_us_ = kNever;
      wake_.wait(mutex_);
      continue;
    }
    if (now_us >= deadline_us_ + kGraceUs) _exit(kWorkerOutOfTime);
    if (now_us >= deadline_us_) JS_RequestInterruptCallback(cx_);
    sleeping_until_us_ = now_us < deadline_us_ ? deadline_us_ : now_us + kRepeatUs;
    wake_.wait_for(mutex_, std::chrono::microseconds(sleeping_until_us_ - now_us));
  }
}

}  // namespace orrery::script
