// Where requests go that cannot be answered on an event loop: a bounded queue and threads for each
// kind of work, so that none holds up another. In each, containers take turns (see
// base/fair_queue.h).
//
// A request that finds its queue full, or has waited as long as it may, is refused and told when to
// come back; one whose client has gone is dropped.
//
// Threading: any thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>

#include "api/cosmos/call.h"
#include "base/clock.h"
#include "base/fair_queue.h"
#include "base/limits.h"
#include "base/thread_annotations.h"
#include "base/worker_pool.h"

namespace orrery::cosmos {

enum class Lane : uint8_t {
  management,  // databases, containers, offers, users, permissions, scripts: short
  queries,     // queries and feeds
  reads,       // of items that are not in memory
  scripts,     // procedures, and writes with triggers
  admin,       // what operators ask for
};

class Lanes {
 public:
  using Job = std::move_only_function<void(CallPtr)>;

  Lanes(const Limits& limits, const Clock& clock, size_t script_threads);
  ~Lanes();

  // `share` is the container's number, or 0 where there is none.
  void submit(Lane lane, uint64_t share, CallPtr call, Job job);
  // Refuses what waits, and waits for what runs.
  void stop();

  static constexpr size_t kLanes = 5;
  const FairQueue& queue(size_t lane) const { return *queues_[lane]; }

 private:
  class CallTask;
  void sweep_until_stopped();

  const Limits& limits_;
  Mutex mutex_;
  CondVar wake_;
  bool stopping_ ORRERY_GUARDED_BY(mutex_) = false;
  std::array<std::unique_ptr<FairQueue>, kLanes> queues_;
  WorkerPool sweeper_;  // last: its one job uses the rest
};

}  // namespace orrery::cosmos
