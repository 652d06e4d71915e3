// Opens the partitions of this node when they are first needed, and closes the least recently used
// ones.
//
// Invariants
//  - A slot is opened by one thread at a time (Slot::open_mutex), and never once it is gone.
//  - At most Limits::open_partitions are open or being opened, since each costs file descriptors.
//    One more closes the least recently used partition that nobody uses; it is opened again by the
//    next request for it.
//  - A partition whose files are lost does not come back as an empty one: the catalog knows which
//    have files.
//  - In a cluster this node opens only what it is to serve (Slot::here), and nothing is served
//    before the catalog's owner was told of the claim.
//
// Threading: any thread that may wait for files; with_partition() from any thread at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/result.h"
#include "base/thread_annotations.h"
#include "base/worker_pool.h"
#include "catalog/catalog.h"
#include "cluster/partitions/trimmer.h"
#include "cluster/replicas/replicas.h"
#include "cluster/routing_table.h"
#include "cluster/stop_signal.h"
#include "partition/partition.h"
#include "volume/volume.h"

namespace orrery::cluster {

// What becomes of a partition that has no files: nothing was ever written to it.
enum class IfNoFiles : uint8_t { make, leave };

class Opener {
 public:
  using Opened = Result<std::shared_ptr<partition::Partition>>;

  Opener(const RoutingTable& table, catalog::Catalog& catalog, volume::Volume& volume,
         partition::Shared& shared, const Replicas& replicas, Trimmer& trimmer,
         const StopSignal& stop, bool is_node)
      : table_(table),
        catalog_(catalog),
        volume_(volume),
        shared_(shared),
        replicas_(replicas),
        trimmer_(trimmer),
        stop_(stop),
        is_node_(is_node),
        pool_("opener", is_node ? kNodeThreads : kThreads) {}

  // Code::moved when the slot is gone, Code::elsewhere when another node is to serve it.
  Opened open(const std::shared_ptr<Slot>& slot);
  // The same, but null when there are no files.
  Opened open_if_there(const std::shared_ptr<Slot>& slot);
  // For readers: the same, or a replica of another node's partition that may answer them.
  Opened open_to_read(const std::shared_ptr<Slot>& slot, const LsnDemand& demand);
  // What can be read without opening anything; null: nothing can.
  std::shared_ptr<partition::Partition> opened_to_read(const Slot& slot,
                                                       const LsnDemand& demand) const;
  // Gives the partition to the job, which takes what the two above return: here when it is open,
  // and otherwise on a thread of the opener's.
  template <class Job>
  void with_partition(const std::shared_ptr<Slot>& slot, IfNoFiles no_files, Job job) {
    if (auto open = slot->opened()) {
      job(std::move(open));
      return;
    }
    pool_.post([this, slot, no_files, job = std::move(job)]() mutable {
      job(no_files == IfNoFiles::make ? this->open(slot) : open_if_there(slot));
    });
  }

  // After reading: whether what was read is the newest. Code::overloaded when another process may
  // have taken the partitions over.
  Status check_current() const;
  // Closes a partition that another node is to serve, once those who use it are done. Blocks.
  void release(const std::shared_ptr<Slot>& slot);

  // Finishes what was posted. A job that is posted later runs in its caller.
  void stop() { pool_.stop(); }
  // At the end: so that a routing that somebody still holds keeps no files open.
  void close_all();
  const WorkerPool& pool() const { return pool_; }

 private:
  // A place among the open partitions, held while a partition is being opened.
  class Place;
  // Closes the least recently used partition if needed, or waits a moment when all are in use.
  Result<Place> take_place();
  bool close_one_unused();
  Opened open_files(const Slot& slot);
  Opened claim_files(const Slot& slot);
  Status note_opened(const Slot& slot, const partition::Partition& partition, bool was_noted);
  Status tell_catalog(const Slot& slot, uint64_t epoch);

  // In a cluster to open one takes round trips, and perhaps the death of a node to be certain of.
  static constexpr size_t kThreads = 2;
  static constexpr size_t kNodeThreads = 16;

  const RoutingTable& table_;
  catalog::Catalog& catalog_;
  volume::Volume& volume_;
  partition::Shared& shared_;
  const Replicas& replicas_;
  Trimmer& trimmer_;
  const StopSignal& stop_;
  const bool is_node_;
  Mutex mutex_;
  size_t opening_ ORRERY_GUARDED_BY(mutex_) = 0;  // partitions that are being opened
  WorkerPool pool_;
};

}  // namespace orrery::cluster
