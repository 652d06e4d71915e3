// Splits one partition: the map, the routing and the files. What happens inside the partition is
// told in src/partition/split.cc; when and which to split is the split queue's (split_queue.h).
//
// The steps, and what a crash after each leaves, are in ARCHITECTURE.md ("Life of a split"). Here
// are those that concern more than one partition:
//  1. intend: the catalog records removals of both clones before they are made.
//  2. publish: one commit of the catalog ends the intent, names the children and records the
//     removal of the parent's files. Before it every failure undoes the split.
//  3. route to the children, and only then let the parent's waiting writes go on: whoever has one
//     acknowledged by a child must not read from the parent afterwards.
//  4. retire the parent's files, trim the children.
//
// Threading: one split at a time, on the split queue's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

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

class Splitter {
 public:
  Splitter(RoutingTable& table, catalog::Catalog& catalog, volume::Volume& volume,
           const Clock& clock, Opener& opener, Trimmer& trimmer, FileRemover& remover,
           const StopSignal& stop)
      : table_(table),
        catalog_(catalog),
        volume_(volume),
        clock_(clock),
        opener_(opener),
        trimmer_(trimmer),
        remover_(remover),
        publisher_(table, clock, stop) {}

  struct Split {
    SplitReport report;
    std::vector<std::shared_ptr<Slot>> children;  // none of a partition without files
  };
  Result<Split> split(uint32_t container, uint32_t range, catalog::SplitCause cause);
  // Only if it has no files, whichever node is to serve it: nothing otherwise.
  Result<std::optional<SplitReport>> split_if_empty(uint32_t container, uint32_t range,
                                                    catalog::SplitCause cause);

 private:
  using Children = std::vector<std::shared_ptr<Slot>>;

  // Nothing when the partition has files by now.
  Result<std::optional<SplitReport>> split_empty(const Routing& routing, Slot& slot,
                                                 catalog::SplitCause cause);
  // The steps from the cut to the new routing; see the head of this file.
  Result<SplitReport> split_files(const Routing& routing, const Slot& slot,
                                  partition::Partition& parent, catalog::SplitCause cause,
                                  Children& children);
  // Begins the split in the parent; on error it is not begun.
  static Result<partition::Cut> begin(const Routing& routing, const Slot& slot,
                                      partition::Partition& parent, catalog::SplitCause cause);
  Result<catalog::IntendedClones> intend(const Slot& slot, partition::Partition& parent);
  void remove_clones(const catalog::IntendedClones& clones);

  RoutingTable& table_;
  catalog::Catalog& catalog_;
  volume::Volume& volume_;
  const Clock& clock_;
  Opener& opener_;
  Trimmer& trimmer_;
  FileRemover& remover_;
  MapPublisher publisher_;
};

}  // namespace orrery::cluster
