// See container_query.h.
#include "cluster/query/container_query.h"

#include <algorithm>
#include <utility>

#include "partition/format.h"
#include "query/run/execute.h"

namespace orrery::cluster {

using query::PlacementRange;

ContainerQuery::ContainerQuery(Engine& engine, RoutingPtr routing, const query::Query& query,
                               const query::Parameters& parameters, const KeyBounds& bounds,
                               RemoteViews* remote)
    : engine_(engine), remote_(remote), routing_(std::move(routing)), bounds_(bounds) {
  for (const PlacementRange& range :
       query::touched_ranges(query, routing_->container->spec.key, parameters)) {
    PlacementRange part{std::max(range.min, bounds.min), std::min(range.max, bounds.max)};
    if (part.min < part.max) ranges_.push_back(std::move(part));
  }
}

size_t ContainerQuery::partitions() const {
  size_t count = 0;
  size_t next = 0;
  for (const PlacementRange& range : ranges_) {
    auto [from, to] = routing_->slots_of(range.min, range.max);
    count += to - std::max(from, std::min(next, to));
    next = std::max(next, to);
  }
  return count;
}

std::string ContainerQuery::start_of(const query::Position* from) const {
  if (ranges_.empty()) return bounds_.min;
  const std::string& first = ranges_.front().min;
  if (from == nullptr || from->key.empty()) return first;
  // A place before or after all rows with some order values is no item's.
  auto key = partition::parse_item_key(from->key);
  const bool is_within = key && key->placement >= first && key->placement < ranges_.back().max;
  return is_within ? key->placement : first;
}

orrery::Result<ContainerQuery::Result> ContainerQuery::run(
    const query::BoundQuery& bound, const query::Position* from, const LsnDemand& demand,
    partition::Reach reach, const query::PageLimits& limits, query::Context& context) {
  start_ = start_of(from);
  auto admitted = engine_.admit_query(routing_, start_);
  if (!admitted) return pass(admitted.error());
  Result result;
  result.receipt.range = routing_->slot_of(start_)->range.id;
  result.receipt.would_throttle_ms = *admitted;
  EngineSpace space(engine_, remote_, routing_, {ranges_, bounds_.only}, demand, result.receipt,
                    {.reach = reach, .stop = limits.stop});
  auto page = query::run_page(bound, space, from, limits, context);
  if (!page) return pass(page.error());
  if (auto current = engine_.check_current(); !current) return pass(current.error());
  result.page = std::move(*page);
  return result;
}

void ContainerQuery::pay(const Receipt& receipt) {
  engine_.pay_for_query(routing_, start_, receipt.charge, receipt.would_throttle_ms);
}

}  // namespace orrery::cluster
