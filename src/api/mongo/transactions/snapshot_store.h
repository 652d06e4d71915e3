// Snapshots of the collections of a database, for reads outside transactions with the read concern
// snapshot. A snapshot is known by its cluster time: whoever names that reads the same again.
//
// A snapshot is one moment of all collections that it has. It holds a view of each, opened one
// after another, that of the collection which was asked for last; of the others those stay that
// nobody has written to from their view until after the last one: so all are as they were when the
// last was opened. What it does not have is refused (246): collections that were written to too
// often meanwhile, those beyond the limit, those of other databases, sharded ones.
//
// Bounded in number, in the collections of each, and in age: a snapshot keeps old data on the disk.
//
// Threading: any thread. It has a thread, from the first snapshot on, which ends those whose time
// is over.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "api/mongo/bson/error.h"
#include "api/mongo/transactions/pinned_reads.h"
#include "base/clock.h"
#include "base/thread_annotations.h"
#include "cluster/engine.h"

namespace orrery::mongo {

class Snapshot final : public PinnedReads {
 public:
  struct Part {
    uint32_t container = 0;
    std::shared_ptr<const partition::Transaction> transaction;
  };
  // `numbers`: of all collections that the database had, by their names.
  Snapshot(uint64_t time, std::string database,
           std::map<std::string, uint32_t, std::less<>> numbers, std::vector<Part> parts)
      : time_(time),
        database_(std::move(database)),
        numbers_(std::move(numbers)),
        parts_(std::move(parts)) {}

  Answer<std::shared_ptr<const partition::Transaction>> reads(
      const cluster::RoutingPtr& routing, const std::string& placement) override;
  Answer<std::optional<partition::Item>> read(const cluster::RoutingPtr& routing,
                                              const partition::ItemKey& key) override;
  Answer<void> check_name(std::string_view database, std::string_view collection,
                          const cluster::RoutingPtr& routing) const override;
  std::unexpected<Error> read_error(const orrery::Error& error) const override;
  std::optional<Error> ended() const override;

  uint64_t time() const { return time_; }
  const std::string& database() const { return database_; }
  // Lets go of what it holds, once reads that have begun are done.
  void drop();

 private:
  const uint64_t time_;
  const std::string database_;
  const std::map<std::string, uint32_t, std::less<>> numbers_;
  mutable Mutex mutex_;
  std::vector<Part> parts_ ORRERY_GUARDED_BY(mutex_);
  bool is_dropped_ ORRERY_GUARDED_BY(mutex_) = false;
};

class SnapshotStore {
 public:
  static constexpr size_t kSnapshotsMax = 64;  // the oldest goes when there are more
  static constexpr size_t kCollectionsMax = 64;
  static constexpr int64_t kLifetimeS = 300;  // as MongoDB keeps its history at least

  SnapshotStore(cluster::Engine& engine, const Clock& clock) : engine_(engine), clock_(clock) {}
  ~SnapshotStore() { stop(); }
  SnapshotStore(const SnapshotStore&) = delete;
  SnapshotStore& operator=(const SnapshotStore&) = delete;

  // One of now, with this collection, if there is such a one, and as many others as can be had.
  // Blocks.
  Answer<std::shared_ptr<Snapshot>> take(std::string_view database, std::string_view collection);
  // Null: there is none.
  std::shared_ptr<Snapshot> find(uint64_t time);

  // Ends those whose time is over.
  void sweep();
  void stop();

  struct Counts {
    int64_t open = 0;
    int64_t taken = 0;
    int64_t evicted = 0;  // before their time was over, for newer ones
  };
  Counts counts() const;

 private:
  struct Kept {
    std::shared_ptr<Snapshot> snapshot;
    int64_t until_us = 0;
  };
  struct Candidate;
  static constexpr int kRounds = 4;

  // Views of one moment. `wanted`, if it is not null, must be among them.
  Answer<std::vector<Snapshot::Part>> open_views(std::vector<Candidate> others,
                                                 const cluster::RoutingPtr& wanted);
  bool has_changed(const Candidate& one) const;
  std::vector<std::shared_ptr<Snapshot>> take_old(int64_t now_us) ORRERY_REQUIRES(mutex_);
  void run();

  cluster::Engine& engine_;
  const Clock& clock_;
  mutable Mutex mutex_;
  CondVar wake_;
  std::map<uint64_t, Kept> kept_ ORRERY_GUARDED_BY(mutex_);  // by time, which is by age
  uint64_t last_time_ ORRERY_GUARDED_BY(mutex_) = 0;
  Counts counts_ ORRERY_GUARDED_BY(mutex_);
  bool is_stopped_ ORRERY_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // written under the lock, once
};

}  // namespace orrery::mongo
