// Wakes the upkeep before its second is over: there is something to do at once.
//
// Threading: anybody rings; the upkeep's thread waits. A ring while the upkeep is at work is kept
// until it waits again, so none is lost.
#pragma once

#include <chrono>

#include "base/thread_annotations.h"

namespace orrery::cluster {

class UpkeepBell {
 public:
  void ring() {
    const MutexLock lock(mutex_);
    rung_ = true;
    wake_.notify_one();
  }
  // Until it is rung, or `most` has passed. It may also return early.
  void wait(std::chrono::milliseconds most) {
    const MutexLock lock(mutex_);
    if (!rung_) wake_.wait_for(mutex_, most);
    rung_ = false;
  }

 private:
  Mutex mutex_;
  CondVar wake_;
  bool rung_ ORRERY_GUARDED_BY(mutex_) = false;
};

}  // namespace orrery::cluster
