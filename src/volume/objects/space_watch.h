// How much of a store is free, as of a moment ago.
//
// A store may take seconds to tell, or not tell at all: Ceph asks its monitors, which writes do
// without. So only the first to ask waits for it. After that a thread looks again when somebody
// asks, once a second at most, and whoever asks gets what is known.
//
// Threading: any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/thread_annotations.h"
#include "base/worker_pool.h"
#include "volume/objects/object_store.h"

namespace orrery::volume {

class SpaceWatch {
 public:
  // The store outlives it.
  explicit SpaceWatch(ObjectStore& store) : store_(store), looker_("space", 1) {}

  // 0 to 1.
  double free_share(int64_t now_us) {
    if (!is_known_.load(std::memory_order_acquire)) {
      const MutexLock lock(first_mutex_);
      if (!is_known_.load(std::memory_order_relaxed)) {
        look_again_us_ = now_us + kLookEveryUs;
        look();
        is_known_.store(true, std::memory_order_release);
      }
    }
    // One look that does not come to its end is not followed by others.
    if (now_us >= look_again_us_ && !is_looking_.exchange(true)) {
      look_again_us_ = now_us + kLookEveryUs;
      looker_.post([this] {
        look();
        is_looking_ = false;
      });
    }
    return free_share_;
  }

 private:
  static constexpr int64_t kLookEveryUs = 1'000'000;

  void look() {
    if (auto free = store_.free_share()) free_share_ = *free;
  }

  ObjectStore& store_;
  std::atomic<double> free_share_{1};
  std::atomic<int64_t> look_again_us_{0};
  std::atomic<bool> is_looking_{false};
  Mutex first_mutex_;
  std::atomic<bool> is_known_{false};
  WorkerPool looker_;  // last: its job uses the rest
};

}  // namespace orrery::volume
