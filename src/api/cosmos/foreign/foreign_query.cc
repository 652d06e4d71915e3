// See foreign_query.h.
#include "api/cosmos/foreign/foreign_query.h"

#include <utility>

#include "api/cosmos/foreign/foreign_space.h"
#include "partition/format.h"
#include "query/plan/placement_filter.h"
#include "query/run/execute.h"

namespace orrery::cosmos {

ForeignQuery::ForeignQuery(cluster::Engine& engine, cluster::RoutingPtr routing,
                           const query::Query& query, const cluster::KeyBounds& bounds)
    : engine_(engine),
      routing_(std::move(routing)),
      bounds_(bounds),
      reads_items_(query.from.has_value() && bounds.min < bounds.max) {}

bool ForeignQuery::is_about_one_key() const {
  return !reads_items_ || query::PlacementRange{bounds_.min, bounds_.max}.is_point();
}

size_t ForeignQuery::partitions() const {
  if (!reads_items_) return 0;
  const auto [from, to] = routing_->slots_of(bounds_.min, bounds_.max);
  return to - from;
}

Result<cluster::ContainerQuery::Result> ForeignQuery::run(
    const query::BoundQuery& bound, const query::Position* from, const cluster::LsnDemand& demand,
    partition::Reach reach, const query::PageLimits& limits, query::Context& context) {
  if (reach == partition::Reach::memory) return fail(Code::would_wait, "");
  start_ = bounds_.min;
  if (from != nullptr && !from->key.empty()) {
    auto key = partition::parse_item_key(from->key);
    if (key && bounds_.has(key->placement)) start_ = std::move(key->placement);
  }
  auto admitted = engine_.admit_query(routing_, start_);
  if (!admitted) return pass(admitted.error());
  cluster::ContainerQuery::Result result;
  result.receipt.range = routing_->slot_of(start_)->range.id;
  result.receipt.would_throttle_ms = *admitted;
  ForeignSpace space(engine_, routing_, bounds_, demand, result.receipt);
  auto page = query::run_page(bound, space, from, limits, context);
  if (!page) return pass(page.error());
  if (auto current = engine_.check_current(); !current) return pass(current.error());
  result.page = std::move(*page);
  return result;
}

void ForeignQuery::pay(const cluster::Receipt& receipt) {
  engine_.pay_for_query(routing_, start_, receipt.charge, receipt.would_throttle_ms);
}

}  // namespace orrery::cosmos
