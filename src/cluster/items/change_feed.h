// The change feed and the history of writes, one partition at a time. Children continue the LSNs of
// their parent, so a position in a range that was split is valid in each of its children.
//
// Threading: any thread that may wait for files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/limits.h"
#include "base/result.h"
#include "cluster/budgets/budgets.h"
#include "cluster/partitions/opener.h"
#include "cluster/replies.h"
#include "cluster/routing_table.h"
#include "partition/partition.h"

namespace orrery::cluster {

class ChangeFeed {
 public:
  ChangeFeed(const RoutingTable& table, const Limits& limits, const Budgets& budgets,
             Opener& opener)
      : table_(table), limits_(limits), budgets_(budgets), opener_(opener) {}

  // As Engine::changes and Engine::history.
  Result<ChangesReply> changes(RoutingPtr routing, std::string_view min, std::string_view max,
                               const ChangesFrom& from, size_t items_max, const LsnDemand& demand,
                               double charge_factor);
  Result<HistoryReply> history(RoutingPtr routing, std::string_view min, std::string_view max,
                               const ChangesFrom& from, size_t items_max, const LsnDemand& demand,
                               double charge_factor);

 private:
  // The partition that a page is read from.
  struct Source {
    RoutingPtr routing;
    std::shared_ptr<Slot> slot;
    std::shared_ptr<partition::Partition> partition;  // null: nothing was ever written
    Receipt receipt;
  };
  Result<Source> enter(RoutingPtr routing, std::string_view min, std::string_view max,
                       uint64_t position, const LsnDemand& demand);
  static void pay(Source& source, uint64_t bytes, uint64_t items, double charge_factor);

  const RoutingTable& table_;
  const Limits& limits_;
  const Budgets& budgets_;
  Opener& opener_;
};

}  // namespace orrery::cluster
