// See feed.h.
#include "cluster/items/feed.h"

#include <algorithm>
#include <utility>

namespace orrery::cluster {

Result<FeedReply> Feed::page(const RoutingPtr& routing, std::string_view min, std::string_view max,
                             const partition::ItemKey* after, size_t items_max,
                             const LsnDemand& demand, double charge_factor) {
  const Wanted wanted{
      .min = min, .max = max, .after = after, .items_max = items_max, .demand = demand};
  return table_.follow(routing,
                       [&](const Routing& now) { return page_by(now, wanted, charge_factor); });
}

// Of the first partition that has something to give, which pays; else of the last one.
Result<FeedReply> Feed::page_by(const Routing& routing, const Wanted& wanted,
                                double charge_factor) {
  const std::string_view from =
      wanted.after == nullptr ? wanted.min
                              : std::max(wanted.min, std::string_view(wanted.after->placement));
  const auto [begin, end] = routing.slots_of(from, wanted.max);
  FeedReply reply;
  for (size_t i = begin; i < end; ++i) {
    const std::shared_ptr<Slot>& slot = routing.slots[i];
    if (auto done = read_slot(routing, slot, wanted, reply); !done) return pass(done.error());
    if (reply.page.items.empty() && !reply.page.more && i + 1 < end) continue;
    if (!reply.page.more) {
      auto more = has_items(routing, i + 1, end, wanted);
      if (!more) return pass(more.error());
      reply.page.more = *more;
    }
    partition::Work work{.kind = partition::WorkKind::page, .items = reply.page.items.size()};
    for (const auto& [key, item] : reply.page.items) {
      work.bytes += routing.prices->counted(item.body.size());
    }
    reply.receipt.charge = charge_factor * routing.prices->charge(work);
    Budgets::pay(routing, *slot, reply.receipt.charge);
    break;
  }
  return reply;
}

Status Feed::read_slot(const Routing& routing, const std::shared_ptr<Slot>& slot,
                       const Wanted& wanted, FeedReply& reply) {
  reply.receipt.range = slot->range.id;
  auto admitted = budgets_.admit(routing, *slot);
  if (!admitted) return pass(admitted.error());
  reply.receipt.would_throttle_ms = std::max(reply.receipt.would_throttle_ms, *admitted);
  auto opened = opener_.open_to_read(slot, wanted.demand);
  if (!opened) return pass(opened.error());
  const uint64_t lsn = *opened ? (*opened)->lsn() : 0;
  if (auto checked = check_demand(wanted.demand, slot->range, lsn); !checked) return checked;
  if (*opened) {
    auto page = (*opened)->scan(wanted.min, wanted.max, wanted.after, wanted.items_max,
                                limits_.response_bytes, *routing.schema);
    if (!page) return pass(page.error());
    reply.page = std::move(*page);
  }
  if (auto current = opener_.check_current(); !current) return pass(current.error());
  reply.page.lsn = lsn;
  // Taken after reading: whoever saw this is shown no older state by any replica.
  reply.receipt.lsn = *opened ? (*opened)->lsn() : 0;
  slot->counters.reads.fetch_add(1, std::memory_order_relaxed);
  return {};
}

Result<bool> Feed::has_items(const Routing& routing, size_t from, size_t end,
                             const Wanted& wanted) {
  for (size_t i = from; i < end; ++i) {
    auto opened = opener_.open_to_read(routing.slots[i], wanted.demand);
    if (!opened) return pass(opened.error());
    if (!*opened) continue;
    auto page = (*opened)->scan(wanted.min, wanted.max, nullptr, 1, 1, *routing.schema);
    if (!page) return pass(page.error());
    if (!page->items.empty() || page->more) return true;
  }
  return false;
}

}  // namespace orrery::cluster
