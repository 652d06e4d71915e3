// Reading what has changed, a partition at a time: positions are LSNs of one line of partitions, so
// a reader of a range that was split goes on with its position in each of the children.
#include <fmt/format.h>

#include <algorithm>

#include "cluster/engine.h"
#include "partition/charge.h"

namespace orrery::cluster {

Result<ChangesReply> Engine::changes(RoutingPtr routing, std::string_view min, std::string_view max,
                                     const ChangesFrom& from, size_t items_max,
                                     const LsnDemand& demand, double charge_factor) {
  for (;;) {
    auto reply = changes_once(*routing, min, max, from, items_max, demand, charge_factor);
    if (reply || reply.error().code != Code::moved) return reply;
    RoutingPtr fresh = find(routing->container->number);
    if (!fresh) return fail(Code::not_found, "the container was deleted in the meantime");
    // With the same map it would be the same again: the caller has to ask for smaller pieces.
    if (fresh->container->map->version == routing->container->map->version) return reply;
    routing = std::move(fresh);
  }
}

Result<ChangesReply> Engine::changes_once(const Routing& routing, std::string_view min,
                                          std::string_view max, const ChangesFrom& from,
                                          size_t items_max, const LsnDemand& demand,
                                          double charge_factor) {
  const auto [begin, end] = routing.slots_of(min, std::max(min, max));
  if (end > begin + 1) {
    return fail(Code::moved,
                fmt::format("the keys lie in {} partition key ranges: read the changes of each",
                            end - begin));
  }
  const std::shared_ptr<Slot>& slot = routing.slot_of(min);
  auto admitted = admit(routing, *slot);
  if (!admitted) return pass(admitted.error());
  auto opened = open_if_there(slot);
  if (!opened) return pass(opened.error());
  const partition::Partition* partition = opened->get();  // null: nothing was ever written

  ChangesReply reply;
  reply.receipt.range = slot->range.id;
  reply.receipt.would_throttle_ms = *admitted;
  reply.receipt.lsn = partition == nullptr ? 0 : partition->lsn();
  if (auto checked = check_demand(demand, slot->range, reply.receipt.lsn); !checked) {
    return pass(checked.error());
  }
  if (from.position > reply.receipt.lsn) {
    return fail(Code::invalid,
                fmt::format("the position {} is beyond the newest change of range {}, which is {}: "
                            "it was taken from another range or container. Start again, or go on "
                            "with a position of this range",
                            from.position, slot->range.id, reply.receipt.lsn));
  }
  reply.page.lsn = reply.receipt.lsn;
  if (partition != nullptr && !from.now) {
    partition::ChangeQuery query{.min = min,
                                 .max = max,
                                 .after = from.position,
                                 .items_max = items_max,
                                 .bytes_max = options_.limits.response_bytes};
    if (from.since_s) {
      auto position = partition->position_at(*from.since_s);
      if (!position) return pass(position.error());
      query.after = std::max(query.after, *position);
    }
    auto page = partition->changes(query, *routing.schema);
    if (!page) return pass(page.error());
    reply.page = std::move(*page);
  }
  uint64_t bytes = 0;
  for (const partition::Change& change : reply.page.changes) {
    bytes += partition::charged_bytes(change.item.body.size());
  }
  reply.receipt.charge = charge_factor * partition::feed_charge(bytes, reply.page.changes.size());
  slot->counters.reads.fetch_add(1, std::memory_order_relaxed);
  pay(routing, *slot, reply.receipt.charge);
  return reply;
}

}  // namespace orrery::cluster
