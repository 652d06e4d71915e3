// What a query reads, over the engine: the ranges of keys that it can touch, as views of
// partitions. A range that lies in several partitions is a view of each, and each range is a view
// of its own.
//
// A query that is tried where it must not wait reads what is in memory, and not much of it: beyond
// that everything fails with Code::would_wait, and the query is to be run again where it may.
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

// How much a query may still read; nothing is counted when `reach` is for files.
struct ReadAllowance {
  partition::Reach reach = partition::Reach::files;
  uint32_t entries = 1024;
  uint32_t items = 128;
  std::function<bool()> stop = nullptr;  // whether the page's time is over
  uint32_t passed_over = 0;

  Status take_entry() { return take(entries, 1); }
  Status take_items(size_t count) { return take(items, count); }
  // For an entry that the query does not get to see, and so cannot look at the clock after.
  Status pass_over_entry();

 private:
  Status take(uint32_t& left, size_t count);
};

// Which keys a query can touch: those in one of the ranges, which are sorted and apart from one
// another, that `only` has.
struct TouchedKeys {
  const std::vector<query::PlacementRange>& ranges;
  const value::LevelFilter& only;
};

class EngineSpace final : public query::ItemSpace {
 public:
  // What `keys` refers to outlives the space. `receipt` is told which partition was read last, and
  // up to where.
  EngineSpace(Engine& engine, RoutingPtr routing, const TouchedKeys& keys, const LsnDemand& demand,
              Receipt& receipt, ReadAllowance allowance = {})
      : engine_(engine),
        routing_(std::move(routing)),
        keys_(keys),
        demand_(demand),
        receipt_(receipt),
        allowance_(allowance) {}

  Result<std::unique_ptr<query::ItemView>> open(std::string_view from_placement,
                                                std::string& end) override;
  const value::IndexPolicy* policy() const override { return &routing_->schema->index; }

 private:
  Engine& engine_;
  const RoutingPtr routing_;
  const TouchedKeys keys_;
  const LsnDemand& demand_;
  Receipt& receipt_;
  ReadAllowance allowance_;
};

}  // namespace orrery::cluster
