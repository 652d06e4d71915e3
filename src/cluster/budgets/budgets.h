// Asking the budgets of partitions before an operation, and paying its charge afterwards.
//
// An operation may start while its bucket is not in debt (token_bucket.h). One that comes too early
// is refused, or with Throttling::report served and told how long it would have had to wait. It is
// counted as throttled either way, once.
//
// Threading: any thread, without locks. ask() and pay() are on the path of every request.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/result.h"
#include "cluster/engine_options.h"
#include "cluster/routing.h"

namespace orrery::cluster {

class Budgets {
 public:
  Budgets(const Clock& clock, Throttling throttling) : clock_(clock), throttling_(throttling) {}

  // How long the operation would have to wait (0: it may start), or Code::throttled when that is
  // enforced. Counts what it refuses; what is served all the same is for the caller to count, as
  // one that may try the same operation again does.
  Result<uint32_t> ask(const Routing& routing, Slot& slot) const {
    const int64_t now_us = clock_.steady_us();
    slot.note_use(now_us);
    return judge(routing, slot, routing.budget(slot).wait_ms(now_us));
  }
  // The same once it is known how long: of a partition at another node, its owner has said so.
  Result<uint32_t> judge(const Routing& routing, Slot& slot, uint32_t wait_ms) const {
    if (wait_ms == 0 || throttling_ == Throttling::report) return wait_ms;
    return refuse(routing, slot, wait_ms);
  }
  // The same, and counts both.
  Result<uint32_t> admit(const Routing& routing, Slot& slot) const {
    auto wait_ms = ask(routing, slot);
    if (wait_ms) count_late(slot, *wait_ms);
    return wait_ms;
  }
  // Counts an operation that was served though it would have had to wait.
  static void count_late(Slot& slot, uint32_t wait_ms) {
    if (wait_ms > 0) slot.counters.throttled.fetch_add(1, std::memory_order_relaxed);
  }
  static void pay(const Routing& routing, Slot& slot, double charge) {
    routing.budget(slot).pay(charge);
    slot.counters.charge.fetch_add(charge, std::memory_order_relaxed);
  }

 private:
  static std::unexpected<Error> refuse(const Routing& routing, Slot& slot, uint32_t wait_ms);

  const Clock& clock_;
  const Throttling throttling_;
};

}  // namespace orrery::cluster
