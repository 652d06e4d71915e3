// The data source of foreign_query.h: the items of another face's container, each as this face
// shows it. One view over all partitions, in key order, without an index. It reads page by page,
// so it is no snapshot: an item that changes while a page of the query is made is seen as it was
// before or after.
//
// Threading: one thread at a time. It blocks.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cluster/engine.h"
#include "cluster/query/container_query.h"
#include "query/plan/item_view.h"

namespace orrery::cosmos {

class ForeignSpace final : public query::ItemSpace {
 public:
  // All of these outlive it. `receipt` gets the partition that was read last, and its LSN.
  ForeignSpace(cluster::Engine& engine, const cluster::RoutingPtr& routing,
               const cluster::KeyBounds& bounds, const cluster::LsnDemand& demand,
               cluster::Receipt& receipt)
      : engine_(engine), routing_(routing), bounds_(bounds), demand_(demand), receipt_(receipt) {}

  Result<std::unique_ptr<query::ItemView>> open(std::string_view from_placement,
                                                std::string& end) override;

  // For its cursors. What is read here is charged with the query.
  Result<partition::Page> page_after(const std::optional<partition::ItemKey>& after) const;
  Result<std::optional<partition::Item>> read(const partition::ItemKey& key) const;
  // As JSON; empty: not within the bounds.
  Result<std::string> body_of(const partition::ItemKey& key, const partition::Item& item) const;

 private:
  cluster::Engine& engine_;
  const cluster::RoutingPtr& routing_;
  const cluster::KeyBounds& bounds_;
  const cluster::LsnDemand& demand_;
  cluster::Receipt& receipt_;
};

}  // namespace orrery::cosmos
