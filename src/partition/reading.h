// A Reading is what views read through: a snapshot of the database, the partition's record in it,
// and iterators over it. Making these is a large part of the cost of a short query. So a store
// pools idle readings and reuses them until something is written.
//
// Invariants
//  - All data from one reading is of one snapshot.
//  - A pooled reading is reused only if nothing was written since it was made.
//
// Threading: a reading is used by one thread at a time, inside a Store::Use. Readings may be called
// from any thread.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/snapshot.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/thread_annotations.h"
#include "partition/format.h"
#include "partition/view.h"

namespace orrery::partition {

class Store;

// The options that an iterator over index entries was made with; only a match can be reused.
struct EntryUse {
  Reach reach = Reach::files;
  // Its bounds lie within one term and it only moves forwards, so prefix filters can skip files.
  bool in_one_term = false;
  bool operator==(const EntryUse&) const = default;
};

// An iterator over the index entries in [lower, upper). After its bounds are changed it must seek.
struct EntryIterator {
  void bound(std::string_view new_lower, std::string_view new_upper);

  std::string lower;
  std::string upper;
  rocksdb::Slice lower_bound;
  rocksdb::Slice upper_bound;
  EntryUse use;
  std::unique_ptr<rocksdb::Iterator> it;
};

class Reading {
 public:
  static Result<std::unique_ptr<Reading>> make(const Store& store, Reach reach);

  const PartitionRecord& record() const { return record_; }
  const rocksdb::Snapshot* snapshot() const { return snapshot_; }  // null: a follower's
  uint64_t sequence() const { return sequence_; }
  // Whether nothing was written since it was made.
  bool is_newest() const;
  rocksdb::ReadOptions options(Reach reach) const;

  std::unique_ptr<EntryIterator> take_entries(std::string_view lower, std::string_view upper,
                                              EntryUse use);
  void give_back(std::unique_ptr<EntryIterator> entries);

 private:
  explicit Reading(const Store& store);

  const Store& store_;
  std::optional<rocksdb::ManagedSnapshot> managed_;  // unset: a follower's
  const rocksdb::Snapshot* const snapshot_;
  const uint64_t sequence_;
  PartitionRecord record_;
  std::vector<std::unique_ptr<EntryIterator>> idle_;
};

// The pool of idle readings of a store. A thread gets one that it used before if possible, since
// what the iterators read is then in its CPU cache.
class Readings {
 public:
  // One of the newest state.
  Result<std::unique_ptr<Reading>> take(const Store& store, Reach reach);
  void give_back(std::unique_ptr<Reading> reading);
  // Empties the pool: a snapshot keeps obsolete files and versions alive, so none is kept for long.
  void drop();

 private:
  static constexpr size_t kShards = 8;
  struct alignas(64) Shard {
    Mutex mutex;
    std::vector<std::unique_ptr<Reading>> idle ORRERY_GUARDED_BY(mutex);
  };
  Shard& shard_of_thread();

  std::array<Shard, kShards> shards_;
};

}  // namespace orrery::partition
