// Bounds the number of open partitions, since each costs file descriptors. Opening one more first
// closes the least recently used partition that is not in use. It is opened again on the next
// request for it.
#include "cluster/engine_opening.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace orrery::cluster {
namespace {

// A partition is in use for as long as a request, a query or the work on a partition takes. When
// all are, whoever opens another looks again after a moment, and gives up after so many.
constexpr std::chrono::milliseconds kMoment{10};
constexpr int kMomentsMax = 300;

}  // namespace

Engine::Opening::~Opening() {
  if (engine_ == nullptr) return;
  const MutexLock lock(engine_->opening_mutex_);
  --engine_->opening_;
}

Result<Engine::Opening> Engine::begin_opening() {
  const size_t most = std::max<size_t>(limits().open_partitions, 1);
  for (int moments = 0;;) {
    {
      const MutexLock lock(opening_mutex_);
      // The catalog's is one of those that are open.
      if (shared_->stores_open.load() + opening_ <= most) {
        ++opening_;
        return Opening(this);
      }
    }
    if (close_one_unused()) continue;
    if (++moments > kMomentsMax || stopping_) {
      return fail(Code::overloaded,
                  fmt::format("all of the {} partitions that may be open are in use: try again "
                              "(limit open-partitions, and ulimit -n)",
                              most));
    }
    std::this_thread::sleep_for(kMoment);
  }
}

bool Engine::close_one_unused() {
  std::vector<std::pair<int64_t, std::shared_ptr<Slot>>> open;
  {
    for (const RoutingPtr& routing : table_.all()) {
      for (const auto& slot : routing->slots) {
        if (slot->opened()) open.emplace_back(slot->last_used_us.load(), slot);
      }
    }
  }
  std::ranges::sort(open, {}, [](const auto& one) { return one.first; });
  for (const auto& [used_us, slot] : open) {
    // One that is being opened or removed is not for us; and we hold such a lock ourselves.
    if (!slot->open_mutex.try_lock()) continue;
    std::shared_ptr<partition::Partition> closing;
    {
      const MutexLock lock(slot->mutex);
      // Nobody but the slot holds it, and nobody can get it while the lock is held.
      if (slot->partition.use_count() == 1) closing = std::exchange(slot->partition, nullptr);
    }
    const bool found = closing != nullptr;
    closing.reset();
    slot->open_mutex.unlock();
    if (found) return true;
  }
  return false;
}

}  // namespace orrery::cluster
