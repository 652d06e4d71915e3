// A cache of recently read items, shared by all partitions: a hit costs one lookup, however many
// partitions and files there are.
//
// Invariants
//  - find() returns a state that the partition had at some moment during the call. The writer
//    therefore opens a Change with its keys before it commits, which evicts them, and closes it
//    once the commit is visible or has failed. A reader that read the files meanwhile cannot put
//    its result: a ticket from before or during a Change is void.
//  - Owner numbers are never reused. So an entry is never found by another partition, nor by the
//    same one after it was closed and reopened. Such entries are evicted with age.
//  - Memory is bounded (second_chance.h).
//
// Threading: any thread. Each shard has its own lock, held for a lookup.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/thread_annotations.h"
#include "partition/item.h"
#include "partition/second_chance.h"

namespace orrery::partition {

class ItemCache {
 public:
  explicit ItemCache(size_t bytes_max);

  uint64_t new_owner() { return owners_.fetch_add(1, std::memory_order_relaxed); }

  // From a miss of find(): lets put() tell whether the item changed since.
  struct Ticket {
    uint64_t hash = 0;
    uint64_t changes = 0;
  };
  // Null when it is not there.
  std::shared_ptr<const Item> find(uint64_t owner, std::string_view key, Ticket& ticket);
  void put(uint64_t owner, std::string_view key, std::shared_ptr<const Item> item,
           const Ticket& ticket);

  // Around a commit that changes these keys.
  class Change {
   public:
    Change(ItemCache& cache, uint64_t owner, const std::vector<std::string>& keys);
    ~Change();
    Change(const Change&) = delete;
    Change& operator=(const Change&) = delete;

   private:
    ItemCache& cache_;
    std::vector<uint64_t> hashes_;
  };

  size_t bytes() const;  // kept now

 private:
  static constexpr size_t kShards = 64;

  struct alignas(64) Shard {
    explicit Shard(size_t bytes_max) : items(bytes_max) {}
    mutable Mutex mutex;
    uint64_t changes ORRERY_GUARDED_BY(mutex) = 0;  // that were begun
    uint32_t open ORRERY_GUARDED_BY(mutex) = 0;     // changes under way
    SecondChance<std::shared_ptr<const Item>> items ORRERY_GUARDED_BY(mutex);
  };
  Shard& shard_of(uint64_t hash) { return shards_[hash % kShards]; }

  std::atomic<uint64_t> owners_{1};
  std::deque<Shard> shards_;
};

}  // namespace orrery::partition
