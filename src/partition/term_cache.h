// A cache of the index entries of recently looked up terms, shared by all partitions. A query that
// fans out asks every partition for the same few terms, and most partitions have none of them. So
// these lookups dominate the cost of such a query.
//
// A cached list has all entries of one term in a partition, as of a sequence number of its database
// (a `moment`).
//
// Invariants
//  - A cached list is valid from the moment it was made at until now. Before a commit becomes
//    visible, the writer announces the terms that it changes, which evicts their lists. From then
//    on only lists that include the commit are put.
//  - So a view can use a list if its snapshot is not older than the list.
//  - An owner's number is never used twice (as in item_cache.h).
//  - Memory is bounded (second_chance.h).
//
// Threading: any thread. Each shard has its own lock, held for a lookup.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>

#include "base/string_list.h"
#include "base/thread_annotations.h"
#include "partition/second_chance.h"

namespace orrery::partition {

class TermCache {
 public:
  explicit TermCache(size_t bytes_max);

  // What the cache knows of a partition. Made once for each.
  class Owner {
   public:
    explicit Owner(TermCache& cache);

   private:
    friend class TermCache;
    const uint64_t number_;
    std::atomic<uint64_t> next_change_{0};  // lists made before this moment may be outdated
    std::atomic<bool> is_used_{false};
  };

  // The entries of a term, null when it has none, for a view of that moment. Nothing when they are
  // not known.
  std::optional<std::shared_ptr<const StringList>> find(const Owner& owner, std::string_view term,
                                                        uint64_t moment);
  void put(Owner& owner, std::string_view term, std::shared_ptr<const StringList> entries,
           uint64_t moment);

  // Called by the writer before each commit, which becomes visible at `moment`.
  // `for_each_term(take)` calls take(term) with each term that changes.
  template <class ForEachTerm>
  void announce(Owner& owner, uint64_t moment, const ForEachTerm& for_each_term) {
    // Either put() sees this, or it is seen here that there may be something to take out.
    owner.next_change_.store(moment);
    if (!owner.is_used_.load()) return;
    for_each_term([&](std::string_view term) { erase(owner, term); });
  }

  size_t bytes() const;  // kept now

 private:
  static constexpr size_t kShards = 64;

  struct List {
    std::shared_ptr<const StringList> entries;  // null: there are none
    uint64_t moment = 0;
  };
  struct alignas(64) Shard {
    explicit Shard(size_t bytes_max) : lists(bytes_max) {}
    mutable Mutex mutex;
    SecondChance<List> lists ORRERY_GUARDED_BY(mutex);
  };
  Shard& shard_of(uint64_t hash) { return shards_[hash % kShards]; }
  void erase(const Owner& owner, std::string_view term);

  std::atomic<uint64_t> owners_{1};
  std::deque<Shard> shards_;
};

}  // namespace orrery::partition
