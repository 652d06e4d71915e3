// The data source of queries, over the engine: views of the key ranges that a query can touch. Each
// view is of one range in one partition; a range that spans several partitions has a view in each.
//
// A query on a thread that must not wait may read from caches only, and only a little
// (ReadAllowance). Beyond that every read fails with Code::would_wait, and the query is run again
// on a thread that may wait.
//
// Threading: one thread at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/engine.h"
#include "query/plan/item_view.h"
#include "query/plan/placement_filter.h"

namespace orrery::cluster {

// How much a query may still read. Nothing is counted for Reach::files.
struct ReadAllowance {
  partition::Reach reach = partition::Reach::files;
  uint32_t entries = 1024;
  uint32_t items = 128;
  std::function<bool()> stop = nullptr;  // whether the page's time is over
  uint32_t passed_over = 0;

  Status take_entry() { return take(entries, 1); }
  Status take_items(size_t count) { return take(items, count); }
  // For an entry that is filtered out before the query sees it, so that the query cannot check the
  // time after it.
  Status pass_over_entry();

 private:
  Status take(uint32_t& left, size_t count);
};

// The keys that a query can touch: those in the ranges, which are sorted and disjoint, that pass
// `only`.
struct TouchedKeys {
  const std::vector<query::PlacementRange>& ranges;
  const value::LevelFilter& only;
};

// A view as queries read it, with what passes `only`. Both references outlive it.
std::unique_ptr<query::ItemView> view_for_queries(std::unique_ptr<partition::View> view,
                                                  const value::LevelFilter& only,
                                                  ReadAllowance& allowance);

class RemoteViews;

class EngineSpace final : public query::ItemSpace {
 public:
  // What `keys` refers to outlives the space. `receipt` gets the partition that was read last, and
  // its LSN. `remote`: of partitions at other nodes; null in a server alone.
  EngineSpace(Engine& engine, RemoteViews* remote, RoutingPtr routing, const TouchedKeys& keys,
              const LsnDemand& demand, Receipt& receipt, ReadAllowance allowance = {})
      : engine_(engine),
        remote_(remote),
        routing_(std::move(routing)),
        keys_(keys),
        demand_(demand),
        receipt_(receipt),
        allowance_(allowance) {}

  Result<std::unique_ptr<query::ItemView>> open(std::string_view from_placement,
                                                std::string& end) override;
  // A part for each partition that a range meets, by the routing at the start. None where it may
  // read only a little: that is faster alone.
  std::vector<Part> divide(std::string_view from_placement,
                           const std::function<bool()>& stop) override;
  void was_read(const ItemSpace& part) override;
  const value::IndexPolicy* policy() const override { return &routing_->schema->index; }
  const value::Codec& codec() const override { return *routing_->schema->codec; }

 private:
  // Of a partition of this node's, or a replica.
  Result<std::unique_ptr<query::ItemView>> open_here(std::string_view placement,
                                                     const query::PlacementRange& range,
                                                     std::string& end);
  Result<std::unique_ptr<query::ItemView>> open_remote(const Routing& routing,
                                                       std::string_view placement,
                                                       const query::PlacementRange& range,
                                                       std::string& end);

  Engine& engine_;
  RemoteViews* const remote_;
  const RoutingPtr routing_;
  const TouchedKeys keys_;
  const LsnDemand& demand_;
  Receipt& receipt_;
  ReadAllowance allowance_;
};

}  // namespace orrery::cluster
