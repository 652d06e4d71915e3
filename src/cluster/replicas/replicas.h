// The read replicas of this node: which ones are open, and how they keep up with their owners.
//
// The plan, and how many replicas the account is to have (the catalog tells), say for which ranges
// this node is one (nodes/replica_choice.h). One is opened when a reader first comes whom it could
// answer, and closed when none came for a while. Each owner is asked every kAskEvery for the LSNs
// of all that is followed here, in one call, which it answers as a strong read. What is behind
// catches up. What has applied the owner's LSN has everything that was acknowledged before the
// question was sent: it is fresh as of then.
//
// Invariants
//  - A replica answers only whom it may (may_answer): nobody who needs the newest, nobody who has
//    seen more than it has, and nobody at all once its freshness is older than the limit. Whoever
//    it does not answer asks the owner, so that no request fails by a replica.
//  - Nothing here claims a partition or writes to the volume.
//
// Threading: for_reader() and answer_lsns() from any thread; they do not block. The rest is done by
// threads of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/result.h"
#include "base/thread_annotations.h"
#include "base/worker_pool.h"
#include "catalog/catalog.h"
#include "cluster/replicas/replica_reader.h"
#include "cluster/routing_table.h"
#include "cluster/serving_plan.h"
#include "nodes/seat.h"
#include "partition/partition.h"
#include "peer/link.h"
#include "volume/volume.h"

namespace orrery::cluster {

inline constexpr const char* kLsnsCall = "engine.lsns";

// A replica that is open, and what is known of how old it is.
struct Replica {
  Replica(catalog::PartitionRange range_in, std::shared_ptr<partition::Partition> partition_in)
      : range(std::move(range_in)), partition(std::move(partition_in)) {}

  const catalog::PartitionRange range;
  const std::shared_ptr<partition::Partition> partition;
  std::atomic<int64_t> fresh_as_of_us{INT64_MIN / 2};  // by the clock's steady time
  std::atomic<uint64_t> owner_lsn{0};                  // as it was told last
  std::atomic<uint64_t> reads{0};                      // that it answered
};

bool may_answer(const Replica& replica, const LsnDemand& demand, int64_t now_us,
                int64_t staleness_max_us);

class Replicas final : public ReplicaReader {
 public:
  // All outlive it. `link`: null in a server alone, where it does nothing.
  Replicas(const RoutingTable& table, const catalog::Catalog& catalog, const ServingPlan& plan,
           volume::Volume& volume, partition::Shared& shared, peer::Link* link);
  ~Replicas() override;
  Replicas(const Replicas&) = delete;
  Replicas& operator=(const Replicas&) = delete;
  void stop();

  void set(ReplicaSettings settings) override;
  bool has_replica(const Slot& slot, const LsnDemand& demand) const override {
    return !slot.here && for_reader(slot, demand) != nullptr;
  }
  void each(const std::function<void(const ReplicaStatus&)>& visit) const override;

  // The replica that may answer; null: the owner is to. The slot is another node's.
  std::shared_ptr<Replica> for_reader(const Slot& slot, const LsnDemand& demand) const;
  // At the owner: how far the partitions are that it serves, told as a strong read.
  void answer_lsns(std::string_view bytes, peer::Done done) const;

 private:
  // A range that readers came for.
  struct Wanted {
    catalog::PartitionRange range;
    int64_t used_us = 0;
    std::shared_ptr<Replica> replica = {};  // null: not open yet
  };
  using Ranges = std::vector<std::pair<nodes::RangeRef, catalog::PartitionRange>>;

  void run();
  // Which replicas there are to be now, by their owners' addresses. Closes the others.
  std::map<std::string, Ranges> sort_out();
  void keep_up(const std::string& address, const Ranges& ranges);
  Result<std::vector<std::optional<uint64_t>>> ask(const std::string& address,
                                                   const Ranges& ranges) const;
  void keep_up_one(nodes::RangeRef ref, const catalog::PartitionRange& range, uint64_t owner_lsn,
                   int64_t asked_us);
  void open(nodes::RangeRef ref, const catalog::PartitionRange& range);
  void close(nodes::RangeRef ref);
  std::shared_ptr<Replica> find(nodes::RangeRef ref) const;

  const RoutingTable& table_;
  const catalog::Catalog& catalog_;
  const ServingPlan& plan_;
  volume::Volume& volume_;
  partition::Shared& shared_;
  peer::Link* const link_;

  mutable Mutex mutex_;
  mutable CondVar wake_;  // it stops, or there is a first one to open
  ReplicaSettings settings_ ORRERY_GUARDED_BY(mutex_);
  bool stopping_ ORRERY_GUARDED_BY(mutex_) = false;
  mutable std::map<nodes::RangeRef, Wanted> wanted_ ORRERY_GUARDED_BY(mutex_);
  std::set<std::string> asking_ ORRERY_GUARDED_BY(mutex_);  // owners that are being asked
  WorkerPool pool_;
  std::thread thread_;
};

}  // namespace orrery::cluster
