// The parts of an engine, in the order in which they need one another: each takes the ones before
// it by reference, and none knows the engine. Only engine.cc includes this.
//
//   serving_plan         who is to serve which range
//   routing_table        which partition has a key; makes routings from the catalog
//   budgets/             who may start, and what it pays
//   upkeep/file_remover  files that are to go
//   replicas/            read replicas of what other nodes own
//   partitions/          opener, trimmer, indexer, reports
//   node/                among other nodes: what they ask, and where requests are to go
//   exporting/           partitions whose files somebody copies
//   splitting/           how partitions are split and merged, and which ones are, when
//   upkeep/              what is done once a second
//   items/               what is done with items: writes, point reads, feed, change feed, views
//   containers/          what is done with databases, containers and their resources
//
// Locks, in the order in which they are taken:
//   1. RoutingTable::change_mutex: one change to containers and maps at a time, from before the
//      catalog's commit until the routing is installed.
//   2. Slot::open_mutex: one thread opens a partition, or closes it for good. Whoever holds one
//      only tries those of other slots (Opener, to close one of them).
//   3. All others. They guard a few fields each, and nothing of the engine is called while one is
//      held. The catalog's and a partition's own locks are never held while the engine is called.
//
// The end of an engine. Jobs of one part use others, in both directions: an opener's job goes on as
// a write, which asks for a split. So everything stops before anything is destroyed (stop()):
//   1. The stop signal is set: nothing new begins, long work ends at its next step.
//   2. Each pool runs what it has and ends, before those that it gives work to: the upkeep before
//      the indexer, the splitter before the trimmer, the openers before the writers. Where work
//      goes back (a writer's to an opener, when a partition has moved) it finds a pool that has
//      ended, and runs in the poster, at once, with all parts still there.
//   3. The writers end, and with them all completions: these use the parts above.
//   4. The partitions are closed, and files that waited for that are removed.
// Faces have let go of the engine before. What they may keep are routings: their slots are gone and
// hold no files.
#pragma once

#include "catalog/catalog.h"
#include "cluster/budgets/budgets.h"
#include "cluster/containers/containers.h"
#include "cluster/containers/resources.h"
#include "cluster/engine.h"
#include "cluster/exporting/exports.h"
#include "cluster/items/change_feed.h"
#include "cluster/items/feed.h"
#include "cluster/items/point_reads.h"
#include "cluster/items/views.h"
#include "cluster/items/writes.h"
#include "cluster/node/node_seat.h"
#include "cluster/partitions/indexer.h"
#include "cluster/partitions/opener.h"
#include "cluster/partitions/partition_reports.h"
#include "cluster/partitions/trimmer.h"
#include "cluster/replicas/replicas.h"
#include "cluster/routing_table.h"
#include "cluster/serving_plan.h"
#include "cluster/splitting/merger.h"
#include "cluster/splitting/split_queue.h"
#include "cluster/splitting/splitter.h"
#include "cluster/stop_signal.h"
#include "cluster/upkeep/file_remover.h"
#include "cluster/upkeep/upkeep.h"
#include "cluster/upkeep/upkeep_bell.h"
#include "partition/partition.h"
#include "volume/volume.h"

namespace orrery::cluster {

struct Engine::Parts {
  Parts(volume::Volume& volume, const Clock& clock, const EngineOptions& options,
        partition::Shared& shared_in, catalog::Catalog& catalog, CatalogCaller* caller)
      : shared(shared_in),
        plan(options.node),
        table(catalog, clock, options, plan),
        budgets(clock, options.throttling),
        remover(catalog, volume, shared, bell, stop_signal),
        trimmer(stop_signal),
        replicas(table, catalog, plan, volume, shared, options.link),
        opener(table, catalog, volume, shared, replicas, trimmer, stop_signal, !plan.is_alone()),
        seat(caller == nullptr
                 ? nullptr
                 : std::make_unique<NodeSeat>(plan, table, catalog, volume, shared, opener, remover,
                                              replicas, *caller, *options.link, stop_signal)),
        exports(table, catalog, opener, clock, seat.get(), options.link),
        splitter(table, catalog, volume, clock, opener, trimmer, remover, stop_signal),
        merger(table, catalog, volume, clock, opener, trimmer, remover, stop_signal),
        splits(table, options.limits, clock, opener, splitter, merger, seat.get(), stop_signal),
        indexer(table, catalog, opener, stop_signal),
        upkeep(table, catalog, volume, options.limits, clock, remover, indexer, exports, splits,
               bell, stop_signal, !plan.is_alone()),
        reports(table, plan, opener),
        point_reads(table, clock, budgets, opener),
        writes(table, options.limits, budgets, opener, splits),
        feed(table, options.limits, budgets, opener),
        change_feed(table, options.limits, budgets, opener),
        views(table, clock, budgets, opener),
        containers(catalog, table, options.limits, remover, splits, bell),
        resources(catalog, table.change_mutex, options.limits) {
    if (seat) seat->set_splits(splits);
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  ~Parts() { stop(); }

  void stop() {
    stop_signal.set();
    upkeep.stop();
    splits.stop();
    trimmer.stop();
    indexer.stop();
    if (seat) seat->stop();
    replicas.stop();
    opener.stop();
    shared.writers.stop();
    opener.close_all();
    remover.remove_retired();
  }

  partition::Shared& shared;
  StopSignal stop_signal;
  UpkeepBell bell;
  ServingPlan plan;
  RoutingTable table;
  const Budgets budgets;
  FileRemover remover;
  Trimmer trimmer;
  Replicas replicas;
  Opener opener;
  const std::unique_ptr<NodeSeat> seat;  // null: a server alone
  Exports exports;
  Splitter splitter;
  Merger merger;
  SplitQueue splits;
  Indexer indexer;
  Upkeep upkeep;
  PartitionReports reports;
  PointReads point_reads;
  Writes writes;
  Feed feed;
  ChangeFeed change_feed;
  Views views;
  Containers containers;
  Resources resources;
};

}  // namespace orrery::cluster
