// See budgets.h.
#include "cluster/budgets/budgets.h"

#include <fmt/format.h>

namespace orrery::cluster {

std::unexpected<Error> Budgets::refuse(const Routing& routing, Slot& slot, uint32_t wait_ms) {
  slot.counters.throttled.fetch_add(1, std::memory_order_relaxed);
  return std::unexpected(
      Error{.code = Code::throttled,
            .message = fmt::format("the request rate is too large: range {} may use {} "
                                   "units a second. Retry after {} ms, or raise the "
                                   "throughput",
                                   slot.range.id, routing.budget(slot).rate(), wait_ms),
            .retry_after_ms = wait_ms});
}

}  // namespace orrery::cluster
