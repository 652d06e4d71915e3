// Reads of single items: at once from memory, or from the files of a partition that may have to be
// opened first. This is the shortest path of the server.
//
// Threading: any thread. Pending reads hold a pointer to this: it outlives the opener's jobs.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "cluster/budgets/budgets.h"
#include "cluster/partitions/opener.h"
#include "cluster/replies.h"
#include "cluster/routing_table.h"
#include "partition/partition.h"

namespace orrery::cluster {

class PointReads {
 public:
  using Done = std::move_only_function<void(Result<ReadReply>)>;

  PointReads(const RoutingTable& table, const Clock& clock, const Budgets& budgets, Opener& opener)
      : table_(table), clock_(clock), budgets_(budgets), opener_(opener) {}

  // As Engine::read_in_memory and Engine::read. `attempt` counts how often it was routed before.
  std::optional<Result<ReadReply>> read_in_memory(const Routing& routing,
                                                  std::string_view placement, std::string_view row,
                                                  const LsnDemand& demand, double charge_factor);
  void read(RoutingPtr routing, std::string placement, std::string row, const LsnDemand& demand,
            Done done, double charge_factor, int attempt = 0);

 private:
  Result<ReadReply> read_here(const Routing& routing, Slot& slot,
                              const partition::Partition* partition, std::string_view placement,
                              std::string_view row, const LsnDemand& demand, double charge_factor,
                              partition::Reach reach);

  const RoutingTable& table_;
  const Clock& clock_;
  const Budgets& budgets_;
  Opener& opener_;
};

}  // namespace orrery::cluster
