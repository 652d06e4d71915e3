// See parking.h.
#include "api/mongo/cursors/parking.h"

#include <utility>
#include <vector>

#include "base/survive.h"

namespace orrery::mongo {

void Parking::park(CallPtr call, Resume resume, std::chrono::milliseconds pause) {
  CallPtr refused;
  {
    MutexLock lock(mutex_);
    if (is_stopped_) {
      refused = std::move(call);
    } else {
      parked_.emplace(std::chrono::steady_clock::now() + pause,
                      Parked{std::move(call), std::move(resume)});
      if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    }
  }
  // Destroyed without the lock: it answers.
  wake_.notify_one();
}

void Parking::stop() {
  std::multimap<Moment, Parked> dropped;
  {
    MutexLock lock(mutex_);
    is_stopped_ = true;
    dropped.swap(parked_);
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Parking::run() {
  for (;;) {
    std::vector<Parked> due;
    {
      MutexLock lock(mutex_);
      if (is_stopped_) return;
      if (parked_.empty()) {
        wake_.wait(mutex_);
        continue;
      }
      const Moment now = std::chrono::steady_clock::now();
      if (parked_.begin()->first > now) {
        wake_.wait_for(mutex_, parked_.begin()->first - now);
        continue;
      }
      while (!parked_.empty() && parked_.begin()->first <= now) {
        due.push_back(std::move(parked_.begin()->second));
        parked_.erase(parked_.begin());
      }
    }
    for (Parked& one : due) {
      if (one.call->client_is_gone()) continue;
      survive("going on with a command", [&] { one.resume(std::move(one.call)); });
    }
  }
}

}  // namespace orrery::mongo
