// Merges two neighbouring partitions of this node: the map, the routing and the files. What happens
// inside the partitions is told in src/partition/merge.h; which ones and when is the split queue's
// (split_queue.h).
//
// The steps, and what a crash after each leaves, are in ARCHITECTURE.md ("Life of a merge"). They
// are those of a split (splitter.h) with two parents and one child:
//  1. intend: the catalog records a removal of the child's files before they are made.
//  2. publish: one commit of the catalog ends the intent, names the child and records removals of
//     both parents' files. Before it every failure undoes the merge.
//  3. route to the child, and only then let the parents' waiting writes go on.
//  4. retire the parents' files.
//
// Threading: one merge or split at a time, on the split queue's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/result.h"
#include "base/thread_annotations.h"
#include "catalog/catalog.h"
#include "cluster/partitions/opener.h"
#include "cluster/partitions/trimmer.h"
#include "cluster/replies.h"
#include "cluster/routing_table.h"
#include "cluster/splitting/map_publisher.h"
#include "cluster/stop_signal.h"
#include "cluster/upkeep/file_remover.h"
#include "partition/partition.h"
#include "volume/volume.h"

namespace orrery::cluster {

class Merger {
 public:
  Merger(RoutingTable& table, catalog::Catalog& catalog, volume::Volume& volume, const Clock& clock,
         Opener& opener, Trimmer& trimmer, FileRemover& remover, const StopSignal& stop)
      : table_(table),
        catalog_(catalog),
        volume_(volume),
        clock_(clock),
        opener_(opener),
        trimmer_(trimmer),
        remover_(remover),
        stop_(stop),
        publisher_(table, clock, stop) {}

  struct Pair {
    std::shared_ptr<Slot> left;
    std::shared_ptr<Slot> right;
  };
  // Two ranges of a container, in either order. Code::not_found, or Code::conflict when they are no
  // neighbours.
  static Result<Pair> find_pair(const Routing& routing, uint32_t first, uint32_t second);
  // Both are here. Together they may have `bytes_max`.
  Result<MergeReport> merge(const Routing& routing, const Pair& pair, catalog::MergeCause cause,
                            uint64_t bytes_max);
  // Only if neither has files, whichever node is to serve them: nothing otherwise.
  Result<std::optional<MergeReport>> merge_if_empty(const Routing& routing, const Pair& pair,
                                                    catalog::MergeCause cause);

 private:
  using PartitionPtr = std::shared_ptr<partition::Partition>;

  Result<MergeReport> merge_files(const Pair& pair, partition::Partition& left,
                                  partition::Partition& right, bool keeps_history,
                                  catalog::MergeCause cause);
  Result<catalog::IntendedMerge> intend(const Pair& pair, partition::Partition& left,
                                        partition::Partition& right);

  RoutingTable& table_;
  catalog::Catalog& catalog_;
  volume::Volume& volume_;
  const Clock& clock_;
  Opener& opener_;
  Trimmer& trimmer_;
  FileRemover& remover_;
  const StopSignal& stop_;
  MapPublisher publisher_;
};

}  // namespace orrery::cluster
