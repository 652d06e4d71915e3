// What queries and scripts read: views of a part of one partition, each one snapshot, and
// transactions over one key. A query is admitted once, reads as many views as it needs, and pays at
// its end.
//
// Threading: any thread. What can wait for files says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cluster/budgets/budgets.h"
#include "cluster/partitions/opener.h"
#include "cluster/replies.h"
#include "cluster/routing_table.h"
#include "partition/note.h"
#include "partition/partition.h"

namespace orrery::cluster {

class Views {
 public:
  Views(const RoutingTable& table, const Clock& clock, const Budgets& budgets, Opener& opener)
      : table_(table), clock_(clock), budgets_(budgets), opener_(opener) {}

  // As the functions of the same names of Engine.
  Result<ViewReply> open_view(const RoutingPtr& routing, std::string_view placement,
                              std::string_view min, std::string_view max, const LsnDemand& demand,
                              partition::Reach reach);
  Result<TransactionReply> begin_transaction(const RoutingPtr& routing, std::string_view placement,
                                             const LsnDemand& demand, size_t bytes_max);
  Result<std::vector<partition::KeptNote>> notes(const RoutingPtr& routing, std::string_view owner,
                                                 uint64_t number);
  Result<std::optional<partition::ItemKey>> find_by_term(const RoutingPtr& routing,
                                                         std::string_view term);

 private:
  Opener::Opened open(const std::shared_ptr<Slot>& slot, const LsnDemand& demand,
                      partition::Reach reach);

  const RoutingTable& table_;
  const Clock& clock_;
  const Budgets& budgets_;
  Opener& opener_;
};

}  // namespace orrery::cluster
