// Writes to items, from admission to answer: asks the budget and the quota, opens the partition,
// submits the transaction to its writer, and pays. A transaction that comes back because its
// partition was split, or its index rules have changed, goes on with the newer routing.
//
// Threading: any thread. Answers come on a writer's thread, or earlier on the caller's or an
// opener's. Pending writes hold a pointer to this: it outlives the opener's and the writers' jobs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "cluster/budgets/budgets.h"
#include "cluster/partitions/opener.h"
#include "cluster/replies.h"
#include "cluster/routing_table.h"
#include "cluster/splitting/split_queue.h"
#include "partition/partition.h"

namespace orrery::cluster {

class Writes {
 public:
  using Done = std::move_only_function<void(WriteReply)>;

  Writes(const RoutingTable& table, const Limits& limits, const Budgets& budgets, Opener& opener,
         SplitQueue& splits)
      : table_(table), limits_(limits), budgets_(budgets), opener_(opener), splits_(splits) {}

  // As Engine::write. `attempt` counts how often it was routed before.
  void write(RoutingPtr routing, std::vector<partition::Write> transaction, Done done,
             ReadTerms reads, int attempt = 0);

 private:
  // A transaction on its way, without its writes.
  struct Pending {
    RoutingPtr routing;
    std::shared_ptr<Slot> slot;
    Done done;
    ReadTerms reads;
    int attempt = 0;
    uint32_t would_throttle_ms = 0;
  };
  Result<uint32_t> admit(const Routing& routing, Slot& slot,
                         const std::vector<partition::Write>& transaction) const;
  Status check_quota(const Routing& routing) const;
  void submit(Pending pending, std::vector<partition::Write> transaction, Opener::Opened opened);
  void send_on(Pending pending, std::vector<partition::Write> transaction);
  void finish(Pending pending, const partition::Partition& partition,
              const std::vector<partition::Verb>& verbs, partition::Outcome outcome);

  const RoutingTable& table_;
  const Limits& limits_;
  const Budgets& budgets_;
  Opener& opener_;
  SplitQueue& splits_;
};

}  // namespace orrery::cluster
