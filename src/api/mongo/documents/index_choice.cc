// See index_choice.h.
#include "api/mongo/documents/index_choice.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace orrery::mongo {
namespace {

constexpr size_t kEstimatesMax = 16;  // of a plan's ranges; the others count as these do

struct Candidate {
  IndexPlan plan;
  std::optional<bool> direction;  // in which it gives the sort
  uint64_t entries = 0;
  bool has_arrays = false;
};

uint64_t entries_of(const IndexPlan& plan, const query::ItemView& view) {
  const size_t asked = std::min(plan.ranges.size(), kEstimatesMax);
  uint64_t entries = 0;
  for (size_t i = 0; i < asked; ++i) {
    entries += view.estimate({plan.ranges[i].first, plan.ranges[i].second});
  }
  return asked == 0 ? 0 : entries * plan.ranges.size() / asked;
}

// What is read, and what is sorted. Of documents in the order of the sort no more are read than are
// wanted; if an index says that few match, more have to be looked at.
uint64_t cost_of(const Candidate& one, const IndexWanted& wanted, uint64_t items, uint64_t least) {
  if (wanted.sort == nullptr) return one.entries;
  if (!one.direction) return 2 * one.entries;
  if (!wanted.most) return one.entries;
  const uint64_t each = std::max<uint64_t>(items / std::max<uint64_t>(least, 1), 1);
  const uint64_t most = std::min<uint64_t>(*wanted.most, items);
  return std::min(one.entries, most * each);
}

}  // namespace

Answer<std::optional<IndexChoice>> choose_index(const HandlerContext& context,
                                                const cluster::RoutingPtr& routing,
                                                const ScanRange& range, const IndexWanted& wanted) {
  std::vector<Candidate> candidates;
  for (IndexPlan& plan :
       index_plans(definition_of(*routing), routing->container->spec, wanted.filter, wanted.only)) {
    std::optional<bool> direction;
    if (wanted.sort != nullptr) direction = direction_for(plan, *wanted.sort, wanted.ties_by_id);
    if (plan.bounded == 0 && !direction && wanted.only == nullptr) continue;
    candidates.push_back({.plan = std::move(plan), .direction = direction});
  }
  if (candidates.empty()) return std::optional<IndexChoice>();
  auto lanes = IndexWalk::open_lanes(context, routing, range);
  // The scan that comes in its place tells why.
  if (!lanes || !*lanes) return std::optional<IndexChoice>();
  uint64_t items = 0;
  for (const IndexLane& lane : **lanes) {
    if (!lane.view().is_indexed()) return std::optional<IndexChoice>();
    items += lane.view().items_at_most();
    for (Candidate& one : candidates) {
      const size_t fields = one.direction ? one.plan.paths.size() : one.plan.bounded;
      for (const auto& [from, to] : array_terms(one.plan, fields)) {
        if (one.has_arrays) break;
        one.has_arrays = lane.view().estimate({from, to}) > 0;
      }
      if (one.has_arrays) continue;
      one.entries +=
          one.plan.bounded == 0 ? lane.view().items_at_most() : entries_of(one.plan, lane.view());
    }
  }
  uint64_t least = items;
  for (const Candidate& one : candidates) {
    if (!one.has_arrays) least = std::min(least, one.entries);
  }
  Candidate* best = nullptr;
  const auto rank = [&](const Candidate& one) {
    return std::tuple(cost_of(one, wanted, items, least), !one.direction.has_value(),
                      SIZE_MAX - one.plan.bounded, one.plan.paths.size());
  };
  for (Candidate& one : candidates) {
    if (one.has_arrays) continue;
    const bool helps = one.direction || wanted.only != nullptr || one.entries <= worthwhile(items);
    if (helps && (best == nullptr || rank(one) < rank(*best))) best = &one;
  }
  if (best == nullptr) return std::optional<IndexChoice>();
  IndexChoice choice{.plan = std::move(best->plan), .lanes = std::move(**lanes)};
  choice.gives_sort = best->direction.has_value();
  choice.is_backwards = best->direction.value_or(false);
  choice.documents = cost_of(*best, wanted, items, least);
  return choice;
}

}  // namespace orrery::mongo
