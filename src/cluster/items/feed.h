// Pages of a container's items in key order, over all partitions.
//
// Threading: any thread that may wait for files.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/limits.h"
#include "base/result.h"
#include "cluster/budgets/budgets.h"
#include "cluster/partitions/opener.h"
#include "cluster/replies.h"
#include "cluster/routing_table.h"
#include "partition/partition.h"

namespace orrery::cluster {

class Feed {
 public:
  Feed(const RoutingTable& table, const Limits& limits, const Budgets& budgets, Opener& opener)
      : table_(table), limits_(limits), budgets_(budgets), opener_(opener) {}

  // As Engine::feed.
  Result<FeedReply> page(const RoutingPtr& routing, std::string_view min, std::string_view max,
                         const partition::ItemKey* after, size_t items_max, const LsnDemand& demand,
                         double charge_factor);

 private:
  struct Wanted {
    std::string_view min;
    std::string_view max;
    const partition::ItemKey* after;
    size_t items_max;
    const LsnDemand& demand;
  };
  // By one routing. Code::moved when a partition has moved since.
  Result<FeedReply> page_by(const Routing& routing, const Wanted& wanted, double charge_factor);
  Status read_slot(const Routing& routing, const std::shared_ptr<Slot>& slot, const Wanted& wanted,
                   FeedReply& reply);
  // In the partitions from this one to the last.
  Result<bool> has_items(const Routing& routing, size_t from, size_t end, const Wanted& wanted);

  const RoutingTable& table_;
  const Limits& limits_;
  const Budgets& budgets_;
  Opener& opener_;
};

}  // namespace orrery::cluster
