// The RocksDB instance under a partition: opening it, its column families, its options, and the
// translation of its errors. Only files of this folder include this one.
#pragma once

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/snapshot.h>
#include <rocksdb/write_buffer_manager.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/thread_annotations.h"
#include "partition/commit_tail.h"
#include "partition/compaction_guard.h"
#include "partition/format.h"
#include "partition/gate.h"
#include "partition/index_ledger.h"
#include "partition/item_cache.h"
#include "partition/log_watch.h"
#include "partition/partition.h"
#include "partition/purge_marks.h"
#include "partition/range_filter.h"
#include "partition/reading.h"
#include "partition/size_cache.h"
#include "partition/term_cache.h"
#include "volume/followed_files.h"
#include "volume/volume.h"

namespace orrery::partition {

struct Shared::Caches {
  Caches(size_t item_bytes, size_t term_bytes, size_t size_bytes)
      : items(item_bytes), terms(term_bytes), sizes(size_bytes) {}
  ItemCache items;
  TermCache terms;
  SizeCache sizes;
  std::shared_ptr<rocksdb::Cache> blocks;
  std::shared_ptr<rocksdb::WriteBufferManager> write_buffers;
  std::shared_ptr<rocksdb::Logger> log;
};

// The options of iterators over any column family: range tombstones are ignored. That is correct
// since ranges are deleted only where no reader looks (data out of the partition's range, and
// truncated history). It is also necessary: RocksDB 7.8 has a double free of a range tombstone when
// an iterator that reads them cannot open a file.
inline rocksdb::ReadOptions read_options() {
  rocksdb::ReadOptions options;
  options.ignore_range_deletions = true;
  return options;
}

// Among the files of a partition while they are put there (import.h): they are not to be opened.
inline constexpr std::string_view kBeingImported = "RESTORING";

class Store {
 public:
  // How it was opened, by what the disk allowed.
  enum class Mode : uint8_t {
    write,
    sparing,    // nothing is written but the log: no flushes, no compactions
    read_only,  // nothing at all
    follow      // nothing: another process writes
  };

  // Opens the database of a claim, or makes it with `fresh` as its record. While the volume has no
  // room it is opened sparingly from the start; see Mode.
  static Result<std::unique_ptr<Store>> open(const Shared& shared, volume::Volume& volume,
                                             std::unique_ptr<volume::Claim> claim,
                                             const PartitionRecord& fresh);
  // Opens a database that another process writes, to be read; see follower.cc.
  static Result<std::unique_ptr<Store>> follow(const Shared& shared, volume::Volume& volume,
                                               std::unique_ptr<volume::FollowedFiles> files);
  ~Store();
  bool is_follower() const { return followed_ != nullptr; }
  const std::string& directory() const;
  // Of a follower: reads what its owner has written since. Readers are kept out meanwhile, and find
  // one state before and one after; `has_caught_up` is called before they do. On failure it is as
  // it was, or closed. One thread at a time.
  Status catch_up(const std::function<void()>& has_caught_up);
  // Of a follower: a read has failed, as files were deleted by the owner. The next catch_up() opens
  // the database again.
  void note_lost_files() const { lost_files_.store(true); }
  bool has_lost_files() const { return lost_files_.load(std::memory_order_relaxed); }

  // Keeps the database open. Every reader takes a Use for the length of one call. The writer needs
  // none, since it alone reopens. Nor does maintenance, which holds a lock that excludes reopening.
  class Use {
   public:
    explicit Use(const Store& store) : store_(store), shard_(store.gate_.enter()) {}
    // For a Use that lives longer than a call, on a thread that may have another one. It never
    // waits: ok() fails while the database is being reopened.
    struct NoWaiting {};
    Use(const Store& store, NoWaiting) : store_(store), shard_(store.gate_.try_enter()) {}
    ~Use() {
      if (shard_) store_.gate_.leave(*shard_);
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    bool entered() const { return shard_.has_value(); }
    Status ok() const;

   private:
    const Store& store_;
    const std::optional<size_t> shard_;
  };

  // Fails when the disk does not even let the database be read. Ask inside a Use.
  Status is_open() const;
  rocksdb::DB& db() const { return *db_; }
  rocksdb::ColumnFamilyHandle* items() const { return items_; }
  rocksdb::ColumnFamilyHandle* terms() const { return terms_; }
  rocksdb::ColumnFamilyHandle* changes() const { return changes_; }
  rocksdb::ColumnFamilyHandle* history() const { return history_; }
  rocksdb::ColumnFamilyHandle* ledger() const { return db_->DefaultColumnFamily(); }
  RangeFilter& filter() { return filter_; }
  IndexLedger& index_ledger() { return index_ledger_; }
  PurgeBoard& purges() { return purges_; }
  const PurgeBoard& purges() const { return purges_; }
  const IndexLedger& index_ledger() const { return index_ledger_; }

  volume::Claim& claim() const { return *claim_; }  // not of a follower

  // What a reader looks at: all that it reads with this is of one moment. A follower has no
  // snapshots, and needs none: inside a Use it does not change.
  class Moment {
   public:
    explicit Moment(const Store& store);
    Moment(const Moment&) = delete;
    Moment& operator=(const Moment&) = delete;
    const rocksdb::Snapshot* snapshot() const { return snapshot_; }  // null: a follower's

   private:
    std::optional<rocksdb::ManagedSnapshot> managed_;
    const rocksdb::Snapshot* snapshot_ = nullptr;
  };

  // Held while files are cloned or trimmed: neither at the same time as the other, nor as
  // reopening.
  Mutex& maintenance() __attribute__((lock_returned(maintenance_))) { return maintenance_; }

  // As found when it was opened.
  const PartitionRecord& record() const { return record_; }
  // Writes a record outside of a run: when a child is made, and after trimming.
  Status put_record(const PartitionRecord& record);

  // After the ledger was written by other means than runs, while nobody reads: reads again what
  // memory has of it.
  Status load_ledger();

  // Every write goes through here, one at a time: by the writer, or while it is paused.
  rocksdb::Status write(const rocksdb::WriteOptions& options, rocksdb::WriteBatch& batch);
  // Who is told of every write from now on (commit_tail.h), for as long as it lives.
  void add_tail(const std::shared_ptr<CommitTail>& tail);

  // Marks everything written so far as committed (log_watch.h). Call after each successful write.
  void acknowledge() { logs_->acknowledge(); }
  // Records the LSN of the newest commit. If commits are synced, it is also noted in the volume, so
  // that opening the database with less is an error. Only by the writer, before callers are
  // answered.
  void committed(uint64_t lsn);

  // To be called after a write failed, or to leave Mode::sparing. Probes whether the disk takes
  // writes. If so, closes and reopens the database without unacknowledged commits; it must then be
  // at `lsn`. On failure it can still be read, if the disk allows that, but not written. Only by
  // the writer. (RocksDB's own Resume() gives up after errors in the log, and would leave the
  // failed commit to a later recovery.)
  Status reopen(uint64_t lsn);
  Mode mode() const { return mode_; }
  // Why it could only be opened to be read; empty otherwise.
  const std::string& read_only_reason() const { return read_only_reason_; }

  // Nothing when there is no such key.
  Result<std::optional<std::string>> get(rocksdb::ColumnFamilyHandle* family, std::string_view key,
                                         const rocksdb::Snapshot* snapshot = nullptr,
                                         Reach reach = Reach::files) const;
  // The same without copying the value. Values are not empty.
  Result<bool> get(rocksdb::ReadOptions options, rocksdb::ColumnFamilyHandle* family,
                   std::string_view key, rocksdb::PinnableSlice& stored, Reach reach,
                   std::string_view doing) const;
  static Error would_wait();

  // For views; inside a Use that lasts as long as the reading.
  Readings& readings() const { return readings_; }

  // Snapshots that outlive one call. Reopening ends them: find() then gives null.
  struct SnapshotId {
    const rocksdb::Snapshot* snapshot = nullptr;
    uint64_t generation = 0;
  };
  SnapshotId take_snapshot();
  void release(const SnapshotId& id);  // not inside a Use
  const rocksdb::Snapshot* find(const SnapshotId& id) const;

  // Which opening of the database this is: files that are held (export.h) are held by one.
  uint64_t generation() const;

  Status flush();
  // Starts a flush of memtables with tombstones, so that compactions find these and free their
  // space. Does nothing when there are none, or no room for the flush. Inside a Use.
  void flush_removals();
  // A clone of all committed state in `directory`, which must not be there.
  Status clone_to(const std::string& directory);

  Error translate(const rocksdb::Status& status, std::string_view doing) const;

 private:
  Store(const Shared& shared, volume::Volume& volume);
  Status check_head() const;
  // Opens in the first mode that works and reads the record and the index ledger; nothing when
  // there is no record yet.
  Result<std::optional<PartitionRecord>> open_database();
  rocksdb::Status open_in(Mode mode);
  Result<std::optional<PartitionRecord>> load();
  Status load_index_ledger();
  Status load_purges(const PartitionRecord& record);
  void close_database();
  // Whether the disk takes a small file.
  Status probe();
  void note(uint64_t lsn, volume::Claim::NoteIs note);
  Status check_not_behind(const std::optional<PartitionRecord>& found) const;
  // Of a follower: which files decide what it reads, as they are now.
  Result<std::vector<std::string>> shape() const;
  Status open_followed();
  Status catch_up_closed();

  const Shared& shared_;
  volume::Volume& volume_;
  mutable Gate gate_;
  Mutex maintenance_;
  mutable Mutex snapshots_mutex_;
  std::set<const rocksdb::Snapshot*> snapshots_ ORRERY_GUARDED_BY(snapshots_mutex_);
  uint64_t generation_ ORRERY_GUARDED_BY(snapshots_mutex_) = 0;
  std::atomic<bool> has_tail_{false};
  Mutex tail_mutex_;
  std::vector<std::weak_ptr<CommitTail>> tails_ ORRERY_GUARDED_BY(tail_mutex_);

  // Destroyed in reverse: the database before what it stands on.
  std::unique_ptr<volume::Claim> claim_;             // null: a follower's
  std::unique_ptr<volume::FollowedFiles> followed_;  // null: an owner's
  mutable std::atomic<bool> lost_files_{false};
  std::vector<std::string> shape_;  // of a follower, as of the newest reading
  std::unique_ptr<CompactionGuard> compactions_;
  std::unique_ptr<LogWatch> logs_;
  std::unique_ptr<rocksdb::Env> env_;
  RangeFilter filter_;
  std::unique_ptr<rocksdb::CompactionFilter> terms_filter_;
  std::unique_ptr<rocksdb::CompactionFilter> changes_filter_;
  std::unique_ptr<rocksdb::CompactionFilter> history_filter_;
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::ColumnFamilyHandle* items_ = nullptr;
  rocksdb::ColumnFamilyHandle* terms_ = nullptr;
  rocksdb::ColumnFamilyHandle* changes_ = nullptr;
  rocksdb::ColumnFamilyHandle* history_ = nullptr;
  mutable Readings readings_;  // of db_
  Mode mode_ = Mode::write;
  std::string read_only_reason_;
  PartitionRecord record_;
  std::atomic<uint64_t> committed_lsn_{0};
  bool opened_ = false;  // and nothing was missing
  IndexLedger index_ledger_;
  PurgeBoard purges_;
};

}  // namespace orrery::partition
