// Which partitions are split or merged, and when. They are split on demand, when one is full, and
// until a container has as many as the throughput that it was given takes. They are merged on
// demand, and after a container's throughput was lowered, when two neighbours are small and idle.
// How that is done is the splitter's (splitter.h) and the merger's (merger.h).
//
// Nothing is merged and split in turn. By itself a container is split until it has as many
// partitions as its throughput takes at least, and merged down to as many as a new one would have,
// which are not fewer. Partitions are split when they are full, and merged by themselves when
// together they would fill a quarter of one.
//
// Invariants
//  - Splits and merges are done one after the other, on the one thread of this queue.
//  - At most kSplitsWaitingMax wait that somebody asked for; of the others, each partition waits
//    once for being full, and each change of throughput once.
//
// Threading: any thread. What the path of a write calls (the *_if_* functions) waits for nothing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/limits.h"
#include "base/result.h"
#include "base/thread_annotations.h"
#include "base/worker_pool.h"
#include "cluster/partitions/opener.h"
#include "cluster/replies.h"
#include "cluster/routing_table.h"
#include "cluster/splitting/merger.h"
#include "cluster/splitting/splitter.h"
#include "cluster/stop_signal.h"

namespace orrery::cluster {

// How a node asks another to split one of its partitions, or to merge two. Blocks.
class RemoteSplitter {
 public:
  virtual ~RemoteSplitter() = default;
  virtual Result<SplitReport> split_elsewhere(const Slot& slot, catalog::SplitCause cause) = 0;
  // Code::conflict when they are not at one node.
  virtual Result<MergeReport> merge_elsewhere(const Slot& left, const Slot& right) = 0;
};

class SplitQueue {
 public:
  // `remote` may be null: of a server alone.
  SplitQueue(const RoutingTable& table, const Limits& limits, const Clock& clock, Opener& opener,
             Splitter& splitter, Merger& merger, RemoteSplitter* remote, const StopSignal& stop)
      : table_(table),
        limits_(limits),
        clock_(clock),
        opener_(opener),
        splitter_(splitter),
        merger_(merger),
        remote_(remote),
        stop_(stop),
        pool_("splitter", 1) {}

  // Code::overloaded when too many wait.
  void split_later(SplitRequest request, std::move_only_function<void(Result<SplitReport>)> done);
  // The same for another node, of a partition that is to be here: Code::elsewhere when it is not.
  void split_here(uint32_t container, uint32_t range, catalog::SplitCause cause,
                  std::move_only_function<void(Result<SplitReport>)> done);
  // The same for merges.
  void merge_later(MergeRequest request, std::move_only_function<void(Result<MergeReport>)> done);
  void merge_here(MergeRequest request, std::move_only_function<void(Result<MergeReport>)> done);
  // Now and then: merges partitions of containers whose throughput was lowered, one pair at a time.
  void shrink_where_idle();
  // After a write: when the partition is over its size.
  void split_if_full(const Routing& routing, const std::shared_ptr<Slot>& slot);
  // The same where keys are in order and the container has fewer partitions than its throughput
  // takes: once enough is known of the load.
  void scale_if_loaded(const Routing& routing, Slot& slot);
  // Splits until the container has as many partitions as its throughput takes.
  void scale(uint32_t container);
  // Whether it is still being split for that.
  bool is_scaling(uint32_t container) const;

  // Ends the split at work; those that have not begun are left to the next start.
  void stop() { pool_.stop(); }
  const WorkerPool& pool() const { return pool_; }

 private:
  Result<SplitReport> split(uint32_t container, uint32_t range, catalog::SplitCause cause);
  // The slot, when another node serves it and it has files.
  std::shared_ptr<Slot> slot_elsewhere(uint32_t container, uint32_t range) const;
  // Does it on the queue's thread, unless too many wait.
  template <class Report, class Job>
  void post_asked(std::move_only_function<void(Result<Report>)> done, Job job);
  Result<MergeReport> merge(const MergeRequest& request);
  Result<MergeReport> merge_as_asked(const MergeRequest& request);
  void shrink(uint32_t container);
  // What was charged since the container was looked at last, for each of its slots, in units a
  // second. Nothing at the first look.
  std::optional<std::vector<double>> charge_rates(const Routing& routing);
  Result<SplitReport> split_as_asked(const SplitRequest& request);
  bool has_too_few(const Routing& routing) const;
  bool has_too_many(const Routing& routing) const;
  // Whether there was one to split.
  bool split_one_more(const Routing& routing);
  void scaling_done(uint32_t container);

  const RoutingTable& table_;
  const Limits& limits_;
  const Clock& clock_;
  Opener& opener_;
  Splitter& splitter_;
  Merger& merger_;
  RemoteSplitter* const remote_;
  const StopSignal& stop_;

  std::atomic<size_t> waiting_{0};  // that somebody asked for
  mutable Mutex scaling_mutex_;
  // By container: how many changes of its throughput are being followed.
  std::unordered_map<uint32_t, uint32_t> scaling_ ORRERY_GUARDED_BY(scaling_mutex_);
  // Of containers that shrink, by number.
  struct Shrinking {
    int64_t looked_us = 0;
    std::vector<std::pair<uint32_t, double>> charged;  // by range, when it was looked at
    int64_t not_before_us = 0;                         // after a merge that could not be done
  };
  mutable Mutex shrinking_mutex_;
  std::unordered_map<uint32_t, Shrinking> shrinking_ ORRERY_GUARDED_BY(shrinking_mutex_);
  std::atomic<bool> shrink_posted_{false};
  WorkerPool pool_;
};

}  // namespace orrery::cluster
