// The change feed, one partition at a time. Children continue the LSNs of their parent, so a
// position in a range that was split is valid in each of its children.
#include <fmt/format.h>

#include <algorithm>

#include "cluster/engine.h"

namespace orrery::cluster {

Result<Engine::OnePartition> Engine::enter_one(RoutingPtr routing, std::string_view min,
                                               std::string_view max, uint64_t position,
                                               const LsnDemand& demand) {
  OnePartition one;
  for (;;) {
    const auto [begin, end] = routing->slots_of(min, std::max(min, max));
    if (end > begin + 1) {
      return fail(Code::moved,
                  fmt::format("the keys lie in {} ranges: read the changes of each", end - begin));
    }
    one.slot = routing->slot_of(min);
    auto admitted = budgets_.admit(*routing, *one.slot);
    if (!admitted) return pass(admitted.error());
    one.receipt.would_throttle_ms = *admitted;
    auto opened = open_if_there(one.slot);
    if (opened) {
      one.partition = std::move(*opened);
      break;
    }
    if (opened.error().code != Code::moved) return pass(opened.error());
    routing = find(routing->container->number);
    if (!routing) return pass(container_is_gone());
  }
  one.receipt.range = one.slot->range.id;
  one.receipt.lsn = one.partition == nullptr ? 0 : one.partition->lsn();
  if (auto checked = check_demand(demand, one.slot->range, one.receipt.lsn); !checked) {
    return pass(checked.error());
  }
  if (position > one.receipt.lsn) {
    return fail(Code::invalid,
                fmt::format("the position {} is beyond the newest change of range {}, which is {}: "
                            "it was taken from another range or container. Start again, or go on "
                            "with a position of this range",
                            position, one.receipt.range, one.receipt.lsn));
  }
  one.routing = std::move(routing);
  return one;
}

void Engine::pay_for_page(OnePartition& one, uint64_t bytes, uint64_t items, double charge_factor) {
  one.receipt.charge =
      charge_factor * one.routing->prices->charge(
                          {.kind = partition::WorkKind::page, .items = items, .bytes = bytes});
  one.slot->counters.reads.fetch_add(1, std::memory_order_relaxed);
  Budgets::pay(*one.routing, *one.slot, one.receipt.charge);
}

Result<ChangesReply> Engine::changes(RoutingPtr routing, std::string_view min, std::string_view max,
                                     const ChangesFrom& from, size_t items_max,
                                     const LsnDemand& demand, double charge_factor) {
  auto one = enter_one(std::move(routing), min, max, from.position, demand);
  if (!one) return pass(one.error());
  ChangesReply reply;
  reply.page.lsn = one->receipt.lsn;
  if (one->partition != nullptr && !from.now) {
    partition::ChangeQuery query{.min = min,
                                 .max = max,
                                 .after = from.position,
                                 .items_max = items_max,
                                 .bytes_max = options_.limits.response_bytes};
    if (from.since_s) {
      auto position = one->partition->position_at(*from.since_s);
      if (!position) return pass(position.error());
      query.after = std::max(query.after, *position);
    }
    auto page = one->partition->changes(query, *one->routing->schema);
    if (!page) return pass(page.error());
    reply.page = std::move(*page);
  }
  uint64_t bytes = 0;
  for (const partition::Change& change : reply.page.changes) {
    bytes += one->routing->prices->counted(change.item.body.size());
  }
  pay_for_page(*one, bytes, reply.page.changes.size(), charge_factor);
  reply.receipt = one->receipt;
  return reply;
}

Result<HistoryReply> Engine::history(RoutingPtr routing, std::string_view min, std::string_view max,
                                     const ChangesFrom& from, size_t items_max,
                                     const LsnDemand& demand, double charge_factor) {
  auto one = enter_one(std::move(routing), min, max, from.position, demand);
  if (!one) return pass(one.error());
  if (one->routing->schema->history_s == 0) {
    return fail(Code::invalid, fmt::format("container '{}' keeps no history of its writes",
                                           one->routing->container->spec.name));
  }
  HistoryReply reply;
  reply.page.lsn = one->receipt.lsn;
  if (one->partition != nullptr && !from.now) {
    auto page = one->partition->history({.min = min,
                                         .max = max,
                                         .after = from.position,
                                         .items_max = items_max,
                                         .bytes_max = options_.limits.response_bytes});
    if (!page) return pass(page.error());
    reply.page = std::move(*page);
  }
  uint64_t bytes = 0;
  for (const partition::Event& event : reply.page.events) {
    bytes += one->routing->prices->counted(event.body.size()) +
             one->routing->prices->counted(event.previous_body.size());
  }
  pay_for_page(*one, bytes, reply.page.events.size(), charge_factor);
  reply.receipt = one->receipt;
  return reply;
}

}  // namespace orrery::cluster
