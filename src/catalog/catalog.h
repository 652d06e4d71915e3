// The catalog: which databases and containers there are, how containers are partitioned, and the
// small named resources that belong to either. It is kept in a partition of its own, so that a
// change is one durable transaction, and wholly in memory for lookups.
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

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/thread_annotations.h"
#include "catalog/model.h"
#include "catalog/resource_index.h"
#include "partition/partition.h"

namespace orrery::catalog {

using DatabasePtr = std::shared_ptr<const Database>;
using ContainerPtr = std::shared_ptr<const Container>;

inline constexpr std::string_view kCatalogVolumeName = "catalog";
inline constexpr std::string_view kRemovals = "removals";  // their placement in the partition

class Catalog {
 public:
  static Result<std::unique_ptr<Catalog>> open(partition::Shared& shared, volume::Volume& volume);

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

  // --- which partitions have files: catalog_files.cc -------------------------------------------
  // False also for files that an earlier version of the program made and nobody has noted since.
  Result<bool> has_files(const PartitionRange& range) const;
  // Once they are durable, and before a write to them is acknowledged. Does nothing for a range
  // that the container's map does not have any more.
  Status note_files(uint32_t container, const PartitionRange& range);
  enum class NewRanges : uint8_t { with_files, without_files };
  // Installs the new map after a split. `have` tells whether the new ranges have files. New ranges
  // with files must be the clones of a split intent (Code::conflict: the split was given up
  // meanwhile).
  Result<ContainerPtr> replace_map(uint32_t container, PartitionMap map, NewRanges have);

  // --- files that are to go: catalog_removals.cc -----------------------------------------------
  std::vector<Removal> removals() const;
  // An intent to split: before the clones are made. Their files are to be removed unless
  // replace_map() names them, which ends the intent.
  Status intend_split(const PartitionRange& parent, uint64_t epoch,
                      const std::vector<std::string>& clones);
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
  explicit Catalog(std::shared_ptr<partition::Partition> partition, const Clock& clock);
  Status load();
  Status check_loaded() const ORRERY_REQUIRES(change_mutex_);
  Status commit(std::vector<partition::Write> writes);
  partition::Write put(std::string_view kind, uint32_t number, std::string body) const;
  partition::Write remove(std::string_view kind, uint32_t number) const;
  // The next number, and the write that keeps it from being used again.
  uint32_t take_number(std::vector<partition::Write>& writes) ORRERY_REQUIRES(change_mutex_);
  uint64_t next_revision() const;
  Result<ContainerPtr> update(const Container& before,
                              const std::function<Status(Container&)>& change,
                              std::vector<partition::Write> writes) ORRERY_REQUIRES(change_mutex_);
  // With `writes`, in one commit.
  Result<ContainerPtr> store(std::shared_ptr<Container> container,
                             std::vector<partition::Write> writes) ORRERY_REQUIRES(change_mutex_);
  partition::Write file_note(partition::Verb verb, const PartitionRange& range) const;
  // For the ranges that `next`, if there is one, does not have: deletes the notes of their files
  // and puts a removal of them into `writes`. Gives the removals, for insert() after the commit.
  Result<std::vector<Removal>> retire(const PartitionMap& map, const PartitionMap* next,
                                      std::vector<partition::Write>& writes) const
      ORRERY_REQUIRES(change_mutex_);
  partition::Write put(const Removal& removal) const;
  partition::Write remove_removal(std::string_view volume_name) const;
  bool has_removal(std::string_view volume_name) const;
  void insert(std::vector<Removal> removals);
  void erase_removals(const std::vector<std::string>& volume_names);
  void insert(const DatabasePtr& database);
  void insert(const ContainerPtr& container);
  void insert(const ResourcePtr& resource);
  void erase_container(uint32_t number);
  bool has_owner(uint32_t number) const;
  // Removals of everything that belongs to `parent`, however indirectly; gives what it found.
  std::vector<ResourcePtr> remove_owned(uint32_t parent,
                                        std::vector<partition::Write>& writes) const;
  void erase_resources(const std::vector<ResourcePtr>& gone);

  const std::shared_ptr<partition::Partition> partition_;
  const Clock& clock_;
  const std::shared_ptr<const partition::Schema> schema_;

  Mutex change_mutex_;  // held through a whole change
  uint32_t next_number_ ORRERY_GUARDED_BY(change_mutex_) = 1;

  mutable std::shared_mutex lookup_mutex_;
  // By face, then by name.
  std::map<std::string, std::map<std::string, DatabasePtr, std::less<>>, std::less<>>
      databases_by_name_;
  std::unordered_map<uint32_t, DatabasePtr> databases_;
  std::unordered_map<uint32_t, std::map<std::string, ContainerPtr, std::less<>>> by_database_;
  std::unordered_map<uint32_t, ContainerPtr> containers_;
  ResourceIndex resources_;
  std::map<std::string, Removal, std::less<>> removals_;  // by name in the volume
};

// Whether the ranges cover the whole space in order, without gap or overlap.
bool covers_everything(const PartitionMap& map);

}  // namespace orrery::catalog
