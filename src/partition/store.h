// The RocksDB instance under a partition: opening it, its column families, its options, and the
// translation of its errors. Only files of this folder include this one.
#pragma once

#include <rocksdb/cache.h>
#include <rocksdb/compaction_filter.h>
#include <rocksdb/db.h>
#include <rocksdb/write_buffer_manager.h>

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "partition/format.h"
#include "partition/partition.h"
#include "volume/volume.h"

namespace orrery::partition {

struct Shared::Caches {
  std::shared_ptr<rocksdb::Cache> blocks;
  std::shared_ptr<rocksdb::WriteBufferManager> write_buffers;
};

// Drops, while files are compacted, the terms and changes of items that are out of range: what a
// split left behind. Does nothing until it is given a range.
class RangeFilter {
 public:
  // Before any compaction can run with it active; the range never changes afterwards.
  void activate(std::string min, std::string max);
  void deactivate() { active_.store(false, std::memory_order_release); }
  bool keeps(std::string_view placement) const { return placement >= min_ && placement < max_; }
  bool active() const { return active_.load(std::memory_order_acquire); }

 private:
  std::string min_;
  std::string max_;
  std::atomic<bool> active_{false};
};

class Store {
 public:
  // Opens the database of a claim, or makes it with `fresh` as its record.
  static Result<std::unique_ptr<Store>> open(const Shared& shared,
                                             std::unique_ptr<volume::Claim> claim,
                                             const PartitionRecord& fresh);
  ~Store();

  rocksdb::DB& db() const { return *db_; }
  rocksdb::ColumnFamilyHandle* items() const { return items_; }
  rocksdb::ColumnFamilyHandle* terms() const { return terms_; }
  rocksdb::ColumnFamilyHandle* changes() const { return changes_; }
  rocksdb::ColumnFamilyHandle* ledger() const { return db_->DefaultColumnFamily(); }
  RangeFilter& filter() { return filter_; }

  // As found when it was opened.
  const PartitionRecord& record() const { return record_; }
  // Writes a record outside of a run: when a child is made, and after trimming.
  Status put_record(const PartitionRecord& record);

  // Nothing when there is no such key.
  Result<std::optional<std::string>> get(rocksdb::ColumnFamilyHandle* family, std::string_view key,
                                         const rocksdb::Snapshot* snapshot = nullptr) const;

  Status flush();
  // A clone of all committed state in `directory`, which must not be there.
  Status clone_to(const std::string& directory);

  Error translate(const rocksdb::Status& status, std::string_view doing) const;

 private:
  Store() = default;

  // Destroyed in reverse: the database before what it stands on.
  std::unique_ptr<volume::Claim> claim_;
  std::unique_ptr<rocksdb::Env> env_;
  RangeFilter filter_;
  std::unique_ptr<rocksdb::CompactionFilter> terms_filter_;
  std::unique_ptr<rocksdb::CompactionFilter> changes_filter_;
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::ColumnFamilyHandle* items_ = nullptr;
  rocksdb::ColumnFamilyHandle* terms_ = nullptr;
  rocksdb::ColumnFamilyHandle* changes_ = nullptr;
  PartitionRecord record_;
};

}  // namespace orrery::partition
