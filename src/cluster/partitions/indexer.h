// Re-indexing: when a container's index rules have changed, its items are given the terms of the
// new ones in the background, partition by partition. What happens inside a partition is told in
// src/partition/reindex.cc; here is found which partitions are behind.
//
// The catalog has the index version that all partitions of a container have reached, so a start
// need not open any to find out. Until the last partition is done, a crash or a split costs only
// looking at some items again. Open partitions are also asked themselves: a delayed write may have
// brought older rules to a partition that did not exist when the others were done.
//
// A unique key that was added to a container with items is claimed by them on the way. Items that
// contradict it end it: it is retired in the catalog, where its maker finds that out.
//
// Threading: index_where_needed() on the upkeep's thread. The work is done on one thread of the
// indexer's own, where containers take turns; each waits there once.
#pragma once

#include <cstdint>
#include <unordered_set>

#include "base/result.h"
#include "base/thread_annotations.h"
#include "base/worker_pool.h"
#include "catalog/catalog.h"
#include "cluster/partitions/opener.h"
#include "cluster/routing_table.h"
#include "cluster/stop_signal.h"

namespace orrery::cluster {

class Indexer {
 public:
  Indexer(RoutingTable& table, catalog::Catalog& catalog, Opener& opener, const StopSignal& stop)
      : table_(table), catalog_(catalog), opener_(opener), stop_(stop), pool_("indexer", 1) {}

  // Queues the containers that are behind their rules.
  void index_where_needed();
  // Ends the step at work; the rest is found again by the next start.
  void stop() { pool_.stop(); }
  const WorkerPool& pool() const { return pool_; }

 private:
  void index_later(uint32_t container);
  void done_with(uint32_t container);
  // Whether there is more to do at once.
  Result<bool> index_some(uint32_t container);
  // Two items have the same values of a unique key. It is the newest, since a container gets a new
  // one when it is not behind: the key is given up, and what items hold of it with the next turn.
  Result<bool> retire_newest_key(const catalog::Container& behind, std::string_view why);

  RoutingTable& table_;
  catalog::Catalog& catalog_;
  Opener& opener_;
  const StopSignal& stop_;
  Mutex mutex_;
  std::unordered_set<uint32_t> queued_ ORRERY_GUARDED_BY(mutex_);  // containers
  WorkerPool pool_;
};

}  // namespace orrery::cluster
