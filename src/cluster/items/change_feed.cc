// See change_feed.h.
#include "cluster/items/change_feed.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::cluster {

Result<ChangeFeed::Source> ChangeFeed::enter(RoutingPtr routing, std::string_view min,
                                             std::string_view max, uint64_t position,
                                             const LsnDemand& demand) {
  Source source;
  // A replica has to have the position, too.
  const LsnDemand of_replica(
      [&](const catalog::PartitionRange& range) {
        return std::max(std::optional(position), demand.needed(range));
      },
      demand.freshness());
  for (;;) {
    const auto [begin, end] = routing->slots_of(min, std::max(min, max));
    if (end > begin + 1) {
      return fail(Code::moved,
                  fmt::format("the keys lie in {} ranges: read the changes of each", end - begin));
    }
    source.slot = routing->slot_of(min);
    auto admitted = budgets_.admit(*routing, *source.slot);
    if (!admitted) return pass(admitted.error());
    source.receipt.would_throttle_ms = *admitted;
    auto opened = opener_.open_to_read(source.slot, of_replica);
    if (opened) {
      source.partition = std::move(*opened);
      break;
    }
    if (opened.error().code != Code::moved) return pass(opened.error());
    routing = table_.find(routing->container->number);
    if (!routing) return pass(container_is_gone());
  }
  source.receipt.range = source.slot->range.id;
  source.receipt.lsn = source.partition == nullptr ? 0 : source.partition->lsn();
  if (auto checked = check_demand(demand, source.slot->range, source.receipt.lsn); !checked) {
    return pass(checked.error());
  }
  if (position > source.receipt.lsn) {
    return fail(Code::invalid,
                fmt::format("the position {} is beyond the newest change of range {}, which is {}: "
                            "it was taken from another range or container. Start again, or go on "
                            "with a position of this range",
                            position, source.receipt.range, source.receipt.lsn));
  }
  source.routing = std::move(routing);
  return source;
}

void ChangeFeed::pay(Source& source, uint64_t bytes, uint64_t items, double charge_factor) {
  source.receipt.charge =
      charge_factor * source.routing->prices->charge(
                          {.kind = partition::WorkKind::page, .items = items, .bytes = bytes});
  source.slot->counters.reads.fetch_add(1, std::memory_order_relaxed);
  Budgets::pay(*source.routing, *source.slot, source.receipt.charge);
}

Result<ChangesReply> ChangeFeed::changes(RoutingPtr routing, std::string_view min,
                                         std::string_view max, const ChangesFrom& from,
                                         size_t items_max, const LsnDemand& demand,
                                         double charge_factor) {
  auto source = enter(std::move(routing), min, max, from.position, demand);
  if (!source) return pass(source.error());
  ChangesReply reply;
  reply.page.lsn = source->receipt.lsn;
  if (source->partition != nullptr && !from.now) {
    partition::ChangeQuery query{.min = min,
                                 .max = max,
                                 .after = from.position,
                                 .items_max = items_max,
                                 .bytes_max = limits_.response_bytes};
    if (from.since_s) {
      auto position = source->partition->position_at(*from.since_s);
      if (!position) return pass(position.error());
      query.after = std::max(query.after, *position);
    }
    auto page = source->partition->changes(query, *source->routing->schema);
    if (!page) return pass(page.error());
    reply.page = std::move(*page);
  }
  if (auto current = opener_.check_current(); !current) return pass(current.error());
  uint64_t bytes = 0;
  for (const partition::Change& change : reply.page.changes) {
    bytes += source->routing->prices->counted(change.item.body.size());
  }
  pay(*source, bytes, reply.page.changes.size(), charge_factor);
  reply.receipt = source->receipt;
  return reply;
}

Result<HistoryReply> ChangeFeed::history(RoutingPtr routing, std::string_view min,
                                         std::string_view max, const ChangesFrom& from,
                                         size_t items_max, const LsnDemand& demand,
                                         double charge_factor) {
  auto source = enter(std::move(routing), min, max, from.position, demand);
  if (!source) return pass(source.error());
  if (source->routing->schema->history_s == 0) {
    return fail(Code::invalid, fmt::format("container '{}' keeps no history of its writes",
                                           source->routing->container->spec.name));
  }
  HistoryReply reply;
  reply.page.lsn = source->receipt.lsn;
  if (from.now) {
    // From here on it is kept, whatever the writes that are on their way know. A partition without
    // files gets some: such a write would make them, and none of it would be remembered.
    if (source->partition == nullptr) {
      auto made = opener_.open(source->slot);
      if (!made) return pass(made.error());
      source->partition = std::move(*made);
    }
    auto begun = source->partition->reindex(source->routing->schema, 1);
    if (!begun && begun.error().code != Code::conflict) return pass(begun.error());
  }
  if (source->partition != nullptr && !from.now) {
    uint64_t after = from.position;
    if (from.since_s) {
      auto position = source->partition->history_position_at(*from.since_s);
      if (!position) return pass(position.error());
      after = std::max(after, *position);
    }
    auto page = source->partition->history({.min = min,
                                            .max = max,
                                            .after = after,
                                            .items_max = items_max,
                                            .bytes_max = limits_.response_bytes});
    if (!page) return pass(page.error());
    reply.page = std::move(*page);
  }
  if (auto current = opener_.check_current(); !current) return pass(current.error());
  uint64_t bytes = 0;
  for (const partition::Event& event : reply.page.events) {
    bytes += source->routing->prices->counted(event.body.size()) +
             source->routing->prices->counted(event.previous_body.size());
  }
  pay(*source, bytes, reply.page.events.size(), charge_factor);
  reply.receipt = source->receipt;
  return reply;
}

}  // namespace orrery::cluster
