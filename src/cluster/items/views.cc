// See views.h.
#include "cluster/items/views.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace orrery::cluster {

Opener::Opened Views::open(const std::shared_ptr<Slot>& slot, const LsnDemand& demand,
                           partition::Reach reach) {
  if (reach == partition::Reach::files) return opener_.open_to_read(slot, demand);
  if (auto open = opener_.opened_to_read(*slot, demand)) return open;
  return fail(Code::would_wait, "the partition's files are not open");
}

Result<ViewReply> Views::open_view(const RoutingPtr& routing, std::string_view placement,
                                   std::string_view min, std::string_view max,
                                   const LsnDemand& demand, partition::Reach reach) {
  return table_.follow(routing, [&](const Routing& now) -> Result<ViewReply> {
    const std::shared_ptr<Slot>& slot = now.slot_of(placement);
    auto opened = open(slot, demand, reach);
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

Result<TransactionReply> Views::begin_transaction(const RoutingPtr& routing,
                                                  std::string_view placement,
                                                  const LsnDemand& demand, size_t bytes_max) {
  return table_.follow(routing, [&](const Routing& now) -> Result<TransactionReply> {
    const std::shared_ptr<Slot>& slot = now.slot_of(placement);
    TransactionReply reply;
    reply.receipt.range = slot->range.id;
    auto admitted = budgets_.admit(now, *slot);
    if (!admitted) return pass(admitted.error());
    reply.receipt.would_throttle_ms = *admitted;
    auto opened = opener_.open(slot);
    if (!opened) return pass(opened.error());
    auto begun = partition::Transaction::begin(std::move(*opened), now.schema, bytes_max);
    if (!begun) return pass(begun.error());
    reply.transaction = std::move(*begun);
    reply.receipt.lsn = reply.transaction->lsn();
    if (auto checked = check_demand(demand, slot->range, reply.receipt.lsn); !checked) {
      return pass(checked.error());
    }
    return reply;
  });
}

Result<std::vector<partition::KeptNote>> Views::notes(const RoutingPtr& routing,
                                                      std::string_view owner, uint64_t number) {
  using Found = Result<std::vector<partition::KeptNote>>;
  return table_.follow(routing, [&](const Routing& now) -> Found {
    std::vector<partition::KeptNote> all;
    for (const auto& slot : now.slots) {
      auto opened = opener_.open_if_there(slot);
      if (!opened) return pass(opened.error());
      if (!*opened) continue;
      auto some = (*opened)->notes(owner, number);
      if (!some) return some;
      std::ranges::move(*some, std::back_inserter(all));
    }
    return all;
  });
}

Result<std::optional<partition::ItemKey>> Views::find_by_term(const RoutingPtr& routing,
                                                              std::string_view term) {
  using Found = Result<std::optional<partition::ItemKey>>;
  return table_.follow(routing, [&](const Routing& now) -> Found {
    for (const auto& slot : now.slots) {
      auto opened = opener_.open_if_there(slot);
      if (!opened) return pass(opened.error());
      if (!*opened) continue;
      auto found = (*opened)->find_by_term(term);
      if (!found || *found) return found;
    }
    return std::nullopt;
  });
}

}  // namespace orrery::cluster
