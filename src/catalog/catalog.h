// The catalog: which databases and containers there are, how containers are partitioned, and the
// small named resources that belong to either. It is kept in a partition of its own, so that a
// change is one durable transaction, and wholly in memory for lookups (tables.h).
//
// Several nodes of a cluster have the catalog; one of them owns its partition, and the others have
// copies that follow the owner's (news.h). Only the owner makes changes by itself. A copy answers
// Code::elsewhere to those that a user asks for; those that a node makes in the course of its work
// it asks its owner for (ChangeLink), and has them itself when the call returns.
//
// Invariants
//  - Names are unique: databases within their face, containers within their database, resources
//    within their kind and parent.
//  - Numbers are never reused, whatever they number.
//  - Removing something removes everything that belongs to it.
//  - A partition map covers the whole placement space without gap or overlap (checked on every
//    store).
//  - A change is visible to lookups only once it is durable.
//  - A partition that is noted to have files has them, or they were lost.
//  - Every partition that has files, or may get some, is named by a map or by a removal, from
//    before the files are made until they are gone.
//
// Threading: lookups from any thread, returning immutable snapshots. Changes are serialised inside
// and block until durable: not for event-loop threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/thread_annotations.h"
#include "catalog/model.h"
#include "catalog/resource_index.h"
#include "catalog/tables.h"
#include "partition/export.h"
#include "partition/partition.h"

namespace orrery::catalog {

inline constexpr std::string_view kCatalogVolumeName = "catalog";

// More than there are nodes is one at each.
inline constexpr uint32_t kReadReplicasMax = 1'000;

// What an intent to split gives: ids and names in the volume that no range ever had.
struct IntendedClones {
  uint32_t left = 0;
  uint32_t right = 0;
  std::string left_name;
  std::string right_name;
};

// What an intent to merge gives.
struct IntendedMerge {
  uint32_t id = 0;
  std::string name;
};
// Two neighbours, the left one first, and at which epochs their owner has them.
struct MergedRanges {
  uint32_t left = 0;
  uint32_t right = 0;
  uint64_t left_epoch = 0;
  uint64_t right_epoch = 0;
};

// A range as the exported catalog has it.
struct ExportedRange {
  uint32_t container = 0;
  uint32_t range = 0;
  std::string volume_name;
  bool has_files = false;
  // Of the container: a copy of the range's files that was begun by other ones does not go with
  // this catalog.
  uint32_t index_version = 0;
  uint32_t indexed_version = 0;
};
struct CatalogExport {
  std::unique_ptr<partition::Export> files;
  std::vector<ExportedRange> ranges;
};

// How a copy of the catalog asks the owner for a change: `request` is for Catalog::perform() there,
// and the answer is what that returns. Blocks.
class ChangeLink {
 public:
  virtual ~ChangeLink() = default;
  virtual Result<std::string> change(std::string request) = 0;
};

class Catalog {
 public:
  static Result<std::unique_ptr<Catalog>> open(partition::Shared& shared, volume::Volume& volume);
  // A copy, empty at first, of a catalog that another node owns.
  static std::unique_ptr<Catalog> copy(const Clock& clock, ChangeLink& owner);
  // Makes this copy the owner: claims and opens the partition and reads it anew. Gives the claim's
  // epoch. Code::moved when another node has it.
  Result<uint64_t> own(partition::Shared& shared, volume::Volume& volume);
  // Closes the partition: a copy again.
  void disown();
  bool is_owner() const { return is_owner_.load(std::memory_order_acquire); }
  // Of the newest commit that is in it.
  uint64_t lsn() const { return lsn_.load(std::memory_order_acquire); }

  // --- between the owner and copies: catalog_news.cc -------------------------------------------
  // What is new since a copy had `since`: for apply() there. Code::elsewhere at a copy.
  Result<std::string> news(uint64_t since);
  // Takes the owner's news. Older ones than what is there change nothing. When they begin too late
  // for this copy, it asks the owner for everything.
  Status apply(std::string_view news);
  // Called after each commit, under a lock: it must not call the catalog. Set before there is one.
  void set_on_commit(std::function<void()> told) { on_commit_ = std::move(told); }
  // What changed since this was asked last, at the owner too: for routings to follow.
  struct Touched {
    std::set<uint32_t> databases = {};
    std::set<uint32_t> containers = {};
  };
  Touched take_touched();
  // A change that a copy asks for.
  Result<std::string> perform(std::string_view request);

  DatabasePtr database(DatabaseName name) const;
  DatabasePtr database(uint32_t number) const;
  std::vector<DatabasePtr> databases(std::string_view face) const;  // by name
  std::vector<DatabasePtr> all_databases() const;                   // by face, then by name
  size_t database_count() const;                                    // of all faces
  ContainerPtr container(uint32_t database, std::string_view name) const;
  ContainerPtr container(uint32_t number) const;
  std::vector<ContainerPtr> containers(uint32_t database) const;  // by name
  std::vector<ContainerPtr> all_containers() const;

  Result<DatabasePtr> create_database(DatabaseName name, std::optional<Throughput> throughput);
  Status remove_database(uint32_t number);  // and all that belongs to it
  Result<DatabasePtr> set_throughput(uint32_t database, const Throughput& throughput);

  // `boundaries` cut the placement space; see value::divide_evenly.
  Result<ContainerPtr> create_container(uint32_t database, ContainerSpec spec,
                                        std::optional<Throughput> throughput,
                                        const std::vector<std::string>& boundaries);
  Status remove_container(uint32_t number);
  // Stores a changed copy of a container; number, version stamps and names' uniqueness are handled
  // here. `change` may refuse.
  Result<ContainerPtr> update_container(uint32_t number,
                                        const std::function<Status(Container&)>& change);
  // Notes that all partitions have the terms of this index version. Nobody sees a change by that:
  // the revision stays.
  Result<ContainerPtr> note_indexed(uint32_t number, uint32_t index_version);

  // --- settings of the account -----------------------------------------------------------------
  // How many other nodes than its owner can answer reads of a partition.
  uint32_t read_replicas() const;
  // At any node. Code::invalid: more than kReadReplicasMax.
  Status set_read_replicas(uint32_t count);

  // --- which partitions have files: catalog_files.cc -------------------------------------------
  // False also for files that an earlier version of the program made and nobody has noted since.
  bool has_files(const PartitionRange& range) const;
  // Notes that a partition was opened with this epoch: it has files, which are durable, and a split
  // of it that an earlier owner began is given up. Before anything is read from it or written to
  // it. Code::moved when the map does not have the range any more.
  Status note_opened(uint32_t container, const PartitionRange& range, uint64_t epoch);

  // The catalog's own files, to be copied, and which partitions they name. No change comes between
  // the two. Code::elsewhere at a copy. Blocks.
  Result<CatalogExport> begin_export();

  // --- splits: catalog_splits.cc ---------------------------------------------------------------
  // Replaces a range without files by its halves. Code::conflict when it has some by now.
  Result<ContainerPtr> split_empty(uint32_t container, uint32_t range, const std::string& cut,
                                   const SplitReason& why = {});
  // An intent to split, before the clones are made: their files are to be removed unless
  // publish_split() names them, which ends the intent. `attempt` counts those at this epoch.
  Result<IntendedClones> intend_split(uint32_t container, uint32_t range, uint64_t epoch,
                                      uint64_t attempt);
  // Replaces a range by its clones. Code::conflict when the split was given up meanwhile. It may be
  // repeated when its outcome is not known.
  Result<ContainerPtr> publish_split(uint32_t container, uint32_t range, const std::string& cut,
                                     const IntendedClones& clones, const SplitReason& why = {});

  // --- merges: catalog_merges.cc ---------------------------------------------------------------
  // Replaces two neighbours without files by one. Code::conflict when one has some by now, or they
  // are no neighbours.
  Result<ContainerPtr> merge_empty(uint32_t container, uint32_t left, uint32_t right,
                                   const MergeReason& why = {});
  // As intend_split() and publish_split().
  Result<IntendedMerge> intend_merge(uint32_t container, const MergedRanges& ranges,
                                     uint64_t attempt);
  Result<ContainerPtr> publish_merge(uint32_t container, uint32_t left, uint32_t right,
                                     const IntendedMerge& merged, const MergeReason& why = {});

  // --- files that are to go: catalog_removals.cc -----------------------------------------------
  std::vector<Removal> removals() const;
  // Once there is nothing left under these names. Those without a removal are passed over.
  Status forget_removals(const std::vector<std::string>& volume_names);

  // --- resources: catalog_resources.cc ---------------------------------------------------------
  ResourcePtr resource(uint8_t kind, uint32_t parent, std::string_view name) const;
  ResourcePtr resource(uint32_t number) const;
  std::vector<ResourcePtr> resources(uint8_t kind, uint32_t parent) const;  // by name
  ResourceTotals resource_totals() const;

  // `parent` is the number of a database, a container, or another resource.
  Result<ResourcePtr> create_resource(uint8_t kind, uint32_t parent, std::string_view name,
                                      std::string body);
  // With a revision: only if that is still the resource's (Code::precondition_failed otherwise).
  Result<ResourcePtr> replace_resource(uint32_t number, std::string_view name, std::string body,
                                       std::optional<uint64_t> if_revision);
  // And all that belongs to it.
  Status remove_resource(uint32_t number, std::optional<uint64_t> if_revision);

 private:
  Catalog(const Clock& clock, ChangeLink* owner);
  Status load(partition::Partition& partition) ORRERY_REQUIRES(change_mutex_);
  // Code::elsewhere at a copy.
  Status check_owner() const ORRERY_REQUIRES(change_mutex_);
  // Makes the writes durable, then enters them.
  Status commit(std::vector<partition::Write> writes) ORRERY_REQUIRES(change_mutex_);
  Status enter(const std::vector<Record>& records);
  void replace_tables(Tables&& tables) ORRERY_REQUIRES(change_mutex_);
  partition::Write put(std::string_view kind, std::string row, std::string body) const;
  partition::Write put(std::string_view kind, uint32_t number, std::string body) const;
  partition::Write remove(std::string_view kind, std::string row) const;
  partition::Write remove(std::string_view kind, uint32_t number) const;
  // The next number, and the write that keeps it from being used again.
  uint32_t take_number(std::vector<partition::Write>& writes) ORRERY_REQUIRES(change_mutex_);
  uint64_t next_revision() const ORRERY_REQUIRES(change_mutex_) { return lsn() + 1; }
  Result<ContainerPtr> update(const Container& before,
                              const std::function<Status(Container&)>& change,
                              std::vector<partition::Write> writes) ORRERY_REQUIRES(change_mutex_);
  // With `writes`, in one commit.
  Result<ContainerPtr> store(const Container& container, std::vector<partition::Write> writes)
      ORRERY_REQUIRES(change_mutex_);
  // For the ranges that `next`, if there is one, does not have: deletes the notes of their files,
  // and records that these are to be removed.
  void retire(const PartitionMap& map, const PartitionMap* next,
              std::vector<partition::Write>& writes) const ORRERY_REQUIRES(change_mutex_);
  Result<ContainerPtr> replace_map(const Container& before, PartitionMap map,
                                   std::vector<partition::Write> writes)
      ORRERY_REQUIRES(change_mutex_);
  // Removals of everything that belongs to `parent`, however indirectly.
  void remove_owned(uint32_t parent, std::vector<partition::Write>& writes) const;
  bool has_owner(uint32_t number) const;
  std::optional<Removal> removal(std::string_view volume_name) const;

  // The changes that a copy asks for, each as it is done by the owner.
  Status note_opened_here(uint32_t container, const PartitionRange& range, uint64_t epoch)
      ORRERY_REQUIRES(change_mutex_);
  Result<IntendedClones> intend_split_here(uint32_t container, uint32_t range, uint64_t epoch,
                                           uint64_t attempt) ORRERY_REQUIRES(change_mutex_);
  Result<ContainerPtr> publish_split_here(uint32_t container, uint32_t range,
                                          const std::string& cut, const IntendedClones& clones,
                                          const SplitReason& why) ORRERY_REQUIRES(change_mutex_);
  Result<IntendedMerge> intend_merge_here(uint32_t container, const MergedRanges& ranges,
                                          uint64_t attempt) ORRERY_REQUIRES(change_mutex_);
  Result<ContainerPtr> publish_merge_here(uint32_t container, uint32_t left, uint32_t right,
                                          const IntendedMerge& merged, const MergeReason& why)
      ORRERY_REQUIRES(change_mutex_);
  Status set_read_replicas_here(uint32_t count) ORRERY_REQUIRES(change_mutex_);
  Result<ContainerPtr> note_indexed_here(uint32_t number, uint32_t index_version)
      ORRERY_REQUIRES(change_mutex_);
  Status forget_removals_here(const std::vector<std::string>& volume_names)
      ORRERY_REQUIRES(change_mutex_);
  // Asks the owner; gives what the change results in, once this copy has it.
  Result<std::string> ask_owner(const std::string& request);
  struct OwnersAnswer {
    uint64_t lsn = 0;  // of the owner, after the change
    std::string outcome;
    std::string news;
  };
  Result<OwnersAnswer> ask_for_news(uint64_t since, const std::string& request);
  // Makes this copy anew from all that the owner has.
  Status copy_all();
  Result<uint64_t> read_all(Tables& into);
  Result<std::string> perform_here(std::string_view request) ORRERY_REQUIRES(change_mutex_);
  Result<std::string> perform_merge(std::string_view request) ORRERY_REQUIRES(change_mutex_);
  Result<std::string> news_since(uint64_t since) ORRERY_REQUIRES(change_mutex_);
  Result<std::string> page_after(const Record& after) ORRERY_REQUIRES(change_mutex_);
  // The container after a change that the owner made.
  Result<ContainerPtr> changed(uint32_t container, const Result<std::string>& answer) const;

  const Clock& clock_;
  const std::shared_ptr<const partition::Schema> schema_;
  ChangeLink* const owner_;  // null: this is never a copy
  std::function<void()> on_commit_;

  mutable Mutex change_mutex_;  // held through a whole change
  std::shared_ptr<partition::Partition> partition_ ORRERY_GUARDED_BY(change_mutex_);  // the owner's
  std::atomic<bool> is_owner_{false};
  std::atomic<uint64_t> lsn_{0};
  // The newest commits, oldest first, for copies that are nearly as new.
  struct Commit {
    uint64_t lsn = 0;
    std::vector<Record> records;
  };
  void touch(const std::vector<Record>& records) ORRERY_REQUIRES(change_mutex_);
  void remember(Commit made) ORRERY_REQUIRES(change_mutex_);
  std::deque<Commit> recent_ ORRERY_GUARDED_BY(change_mutex_);
  size_t recent_bytes_ ORRERY_GUARDED_BY(change_mutex_) = 0;
  // Everything up to this LSN is older than what `recent_` has.
  uint64_t recent_since_ ORRERY_GUARDED_BY(change_mutex_) = 0;
  Touched touched_ ORRERY_GUARDED_BY(change_mutex_);

  mutable std::shared_mutex lookup_mutex_;
  Tables tables_;
};

}  // namespace orrery::catalog
