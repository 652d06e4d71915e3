// Calls that wait for news, as getMore of a change stream does: kept without a thread of their own,
// and tried again after a while.
//
// Threading: any thread. It has one thread, from the first call on.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <thread>

#include "api/mongo/call.h"
#include "base/thread_annotations.h"

namespace orrery::mongo {

class Parking {
 public:
  using Resume = std::function<void(CallPtr)>;
  // How long a call is left: so much later than it could be, its news comes at most.
  static constexpr std::chrono::milliseconds kPause{25};

  Parking() = default;
  ~Parking() { stop(); }
  Parking(const Parking&) = delete;
  Parking& operator=(const Parking&) = delete;

  // Calls `resume` with the call after `pause`, on this class's thread; it must not block. A call
  // whose client has gone is dropped.
  void park(CallPtr call, Resume resume, std::chrono::milliseconds pause = kPause);
  // Drops all calls, and takes no more.
  void stop();

 private:
  using Moment = std::chrono::steady_clock::time_point;
  struct Parked {
    CallPtr call;
    Resume resume;
  };
  void run();

  Mutex mutex_;
  CondVar wake_;
  std::multimap<Moment, Parked> parked_ ORRERY_GUARDED_BY(mutex_);
  bool is_stopped_ ORRERY_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // written under the lock, once
};

}  // namespace orrery::mongo
