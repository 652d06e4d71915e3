// What views read through: a snapshot of the database, the partition's record at that moment, and
// iterators over it. To make these is much of what a short query costs, so a store keeps some for
// the views to come, for as long as nothing is written.
//
// Invariants
//  - All that a reading gives is of its one moment.
//  - A kept reading is used again only if nothing was written since it was made.
//
// Threading: a reading is used by one thread at a time, inside a Store::Use. Readings may be called
// from any thread.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/snapshot.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/thread_annotations.h"
#include "partition/format.h"
#include "partition/view.h"

namespace orrery::partition {

class Store;

// What an iterator over index entries is good for.
struct EntryUse {
  Reach reach = Reach::files;
  // Its bounds are of one term, and it goes forwards: files without the term are passed over.
  bool in_one_term = false;
  bool operator==(const EntryUse&) const = default;
};

// An iterator over the index entries in [lower, upper), whose bounds can be set anew: the next
// thing to do with it then is to seek.
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
  const rocksdb::Snapshot* snapshot() const { return snapshot_; }
  // Whether nothing was written since it was made.
  bool is_newest() const;
  rocksdb::ReadOptions options(Reach reach) const;

  std::unique_ptr<EntryIterator> take_entries(std::string_view lower, std::string_view upper,
                                              EntryUse use);
  void give_back(std::unique_ptr<EntryIterator> entries);

 private:
  explicit Reading(const Store& store);

  const Store& store_;
  rocksdb::ManagedSnapshot managed_;
  const rocksdb::Snapshot* const snapshot_;
  PartitionRecord record_;
  std::vector<std::unique_ptr<EntryIterator>> idle_;
};

// The readings of a store that no view has at the moment. A thread gets one that it had before, if
// it can: what the iterators have read is then in its processor's cache.
class Readings {
 public:
  // One of the newest state.
  Result<std::unique_ptr<Reading>> take(const Store& store, Reach reach);
  void give_back(std::unique_ptr<Reading> reading);
  // A reading keeps replaced files and rows from going: none is kept for long.
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
