// What queries read through: a view of the part of one partition that they may touch.
#include <algorithm>

#include "cluster/engine.h"

namespace orrery::cluster {
namespace {

Result<std::shared_ptr<partition::Partition>> opened_already(const std::shared_ptr<Slot>& slot) {
  if (auto open = slot->opened()) return open;
  return fail(Code::would_wait, "the partition's files are not open");
}

}  // namespace

Result<ViewReply> Engine::open_view(const RoutingPtr& routing, std::string_view placement,
                                    std::string_view min, std::string_view max,
                                    const LsnDemand& demand, partition::Reach reach) {
  return table_.follow(routing, [&](const Routing& now) -> Result<ViewReply> {
    const std::shared_ptr<Slot>& slot = now.slot_of(placement);
    auto opened = reach == partition::Reach::files ? open_if_there(slot) : opened_already(slot);
    if (!opened) return pass(opened.error());
    slot->note_use(clock_.steady_us());
    ViewReply reply;
    reply.min = std::max(min, std::string_view(slot->range.min));
    reply.max = std::min(max, std::string_view(slot->range.max));
    if (*opened) {
      auto view =
          partition::View::open(std::move(*opened), reply.min, reply.max, *now.schema, reach);
      if (!view) return pass(view.error());
      reply.view = std::move(*view);
    } else {
      reply.view = partition::View::of_nothing();
    }
    reply.receipt.range = slot->range.id;
    reply.receipt.lsn = reply.view->lsn();
    if (auto checked = check_demand(demand, slot->range, reply.receipt.lsn); !checked) {
      return pass(checked.error());
    }
    slot->counters.reads.fetch_add(1, std::memory_order_relaxed);
    return reply;
  });
}

}  // namespace orrery::cluster
