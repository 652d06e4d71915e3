// Background work of the engine, once a second, or as soon as the bell is rung:
//  - removes files of dropped partitions that are no longer in use, and deletes old ones;
//  - collects expired and purged items;
//  - finds partitions whose index is behind the rules;
//  - truncates history beyond its retention time (less often);
//  - returns free memory to the operating system;
//  - releases the pooled snapshots of views;
//  - ends copies of files that nobody reads any more;
//  - has partitions merged that are small and idle;
//  - flushes tombstones on a nearly full disk.
//
// Threading: one thread of its own, with one job, from start() until stop().
#pragma once

#include "base/clock.h"
#include "base/limits.h"
#include "base/worker_pool.h"
#include "catalog/catalog.h"
#include "cluster/budgets/purge_shares.h"
#include "cluster/exporting/exports.h"
#include "cluster/partitions/indexer.h"
#include "cluster/routing_table.h"
#include "cluster/splitting/split_queue.h"
#include "cluster/stop_signal.h"
#include "cluster/upkeep/file_remover.h"
#include "cluster/upkeep/upkeep_bell.h"
#include "volume/volume.h"

namespace orrery::cluster {

class Upkeep {
 public:
  Upkeep(const RoutingTable& table, const catalog::Catalog& catalog, volume::Volume& volume,
         const Limits& limits, const Clock& clock, FileRemover& remover, Indexer& indexer,
         Exports& exports, SplitQueue& splits, UpkeepBell& bell, const StopSignal& stop,
         bool is_node)
      : table_(table),
        catalog_(catalog),
        volume_(volume),
        clock_(clock),
        remover_(remover),
        indexer_(indexer),
        exports_(exports),
        splits_(splits),
        bell_(bell),
        stop_(stop),
        is_node_(is_node),
        purge_shares_(limits.purge_percent),
        pool_("upkeep", 1) {}

  void start() {
    pool_.post([this] { loop(); });
  }
  // Once the stop signal is set.
  void stop() {
    bell_.ring();
    pool_.stop();
  }
  const WorkerPool& pool() const { return pool_; }

 private:
  void loop();
  void collect_expired();
  void collect_purged();
  void collect_purged(const RoutingPtr& routing, const std::shared_ptr<Slot>& slot);
  void forget_history();
  void release_readings();
  void flush_removals();
  void remove_files(int round);

  const RoutingTable& table_;
  const catalog::Catalog& catalog_;
  volume::Volume& volume_;
  const Clock& clock_;
  FileRemover& remover_;
  Indexer& indexer_;
  Exports& exports_;
  SplitQueue& splits_;
  UpkeepBell& bell_;
  const StopSignal& stop_;
  const bool is_node_;
  PurgeShares purge_shares_;
  WorkerPool pool_;
};

}  // namespace orrery::cluster
