// What a query reads, over the engine: the ranges of keys that it can touch, as views of
// partitions. A range that lies in several partitions is a view of each, and each range is a view
// of its own.
//
// Threading: one thread at a time.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/engine.h"
#include "query/item_view.h"
#include "query/key_filter.h"

namespace orrery::cosmos {

class EngineSpace final : public query::ItemSpace {
 public:
  // `ranges` are sorted and apart from one another. `receipt` is told which partition was read
  // last, and up to where.
  EngineSpace(cluster::Engine& engine, cluster::RoutingPtr routing,
              const std::vector<query::PlacementRange>& ranges, const cluster::LsnDemand& demand,
              cluster::Receipt& receipt)
      : engine_(engine),
        routing_(std::move(routing)),
        ranges_(ranges),
        demand_(demand),
        receipt_(receipt) {}

  Result<std::unique_ptr<query::ItemView>> open(std::string_view from_placement,
                                                std::string& end) override;
  const value::IndexPolicy* policy() const override { return &routing_->schema->index; }

 private:
  cluster::Engine& engine_;
  const cluster::RoutingPtr routing_;
  const std::vector<query::PlacementRange>& ranges_;
  const cluster::LsnDemand& demand_;
  cluster::Receipt& receipt_;
};

}  // namespace orrery::cosmos
