// A watchdog thread that ends JavaScript past its deadline.
//
// At the deadline of an execution the alarm interrupts the engine, again and again until it is
// silenced. Code that does not reach an interrupt check (a native loop of the engine) gets a grace
// period; then the alarm ends the process. The server has a watchdog too, but this one also works
// when the server is gone.
#pragma once

#include <jsapi.h>

#include <cstdint>
#include <limits>
#include <thread>

#include "base/thread_annotations.h"

namespace orrery::script {

inline constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
// Past its time, an execution has this long to stop before its process is ended.
inline constexpr int64_t kGraceUs = 500'000;

class Alarm {
 public:
  explicit Alarm(JSContext* cx);
  ~Alarm();

  void set(int64_t deadline_us);
  void silence();

 private:
  void watch();

  JSContext* const cx_;
  Mutex mutex_;
  CondVar wake_;
  int64_t deadline_us_ ORRERY_GUARDED_BY(mutex_) = 0;  // 0: none
  int64_t sleeping_until_us_ ORRERY_GUARDED_BY(mutex_) = 0;
  bool stopping_ ORRERY_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace orrery::script
