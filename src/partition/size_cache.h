// What logical partitions hold, as the last commits left it; shared by all partitions. Every write
// of an item changes such a size, and a hit saves a lookup in the ledger, whose memtable has as
// many versions of a size as there were commits.
//
// Invariants
//  - Only a partition's writer finds and puts its entries, one run at a time. It puts every size
//    that a commit has changed, so what it finds is what is stored.
//  - After a commit that failed, or a put that did, the writer takes another owner number: entries
//    under the number before are never found again, and are evicted with age.
//  - Memory is bounded (second_chance.h).
//
// Threading: any thread. Each shard has its own lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

#include "base/thread_annotations.h"
#include "partition/format.h"
#include "partition/second_chance.h"

namespace orrery::partition {

class SizeCache {
 public:
  explicit SizeCache(size_t bytes_max);

  uint64_t new_owner() { return owners_.fetch_add(1, std::memory_order_relaxed); }

  // `key`: size_key().
  std::optional<LogicalSize> find(uint64_t owner, std::string_view key);
  void put(uint64_t owner, std::string_view key, const LogicalSize& size);

 private:
  static constexpr size_t kShards = 16;

  struct alignas(64) Shard {
    explicit Shard(size_t bytes_max) : sizes(bytes_max) {}
    Mutex mutex;
    SecondChance<LogicalSize> sizes ORRERY_GUARDED_BY(mutex);
  };
  Shard& shard_of(uint64_t hash) { return shards_[hash % kShards]; }

  std::atomic<uint64_t> owners_{1};
  std::deque<Shard> shards_;
};

// A partition's own part of it. Only by its writer.
class KnownSizes {
 public:
  explicit KnownSizes(SizeCache& cache) : cache_(cache), owner_(cache.new_owner()) {}
  std::optional<LogicalSize> find(std::string_view key) const { return cache_.find(owner_, key); }
  void put(std::string_view key, const LogicalSize& size) { cache_.put(owner_, key, size); }
  void forget() noexcept { owner_ = cache_.new_owner(); }

 private:
  SizeCache& cache_;
  uint64_t owner_;
};

}  // namespace orrery::partition
