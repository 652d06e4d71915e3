// See term_cache.h.
#include "partition/term_cache.h"

#include <utility>
#include <vector>

namespace orrery::partition {
namespace {

// What a list takes beside its term and entries: nodes of the list and the map, the header.
constexpr size_t kListBytes = 256;

}  // namespace

TermCache::TermCache(size_t bytes_max) {
  for (size_t i = 0; i < kShards; ++i) shards_.emplace_back(bytes_max / kShards);
}

TermCache::Owner::Owner(TermCache& cache)
    : number_(cache.owners_.fetch_add(1, std::memory_order_relaxed)) {}

std::optional<std::shared_ptr<const StringList>> TermCache::find(const Owner& owner,
                                                                 std::string_view term,
                                                                 uint64_t moment) {
  const uint64_t hash = hash_of_owned(owner.number_, term);
  Shard& shard = shard_of(hash);
  MutexLock lock(shard.mutex);
  const List* list = shard.lists.find(owner.number_, hash, term);
  if (list == nullptr || list->moment > moment) return std::nullopt;
  return list->entries;
}

void TermCache::put(Owner& owner, std::string_view term, std::shared_ptr<const StringList> entries,
                    uint64_t moment) {
  using Lists = SecondChance<List>;
  owner.is_used_.store(true);
  const size_t bytes = kListBytes + term.size() + entries->memory();
  if (entries->empty()) entries = nullptr;
  const uint64_t hash = hash_of_owned(owner.number_, term);
  auto made = Lists::make(owner.number_, hash, term, {std::move(entries), moment}, bytes);
  std::vector<Lists::EntryPtr> gone;  // freed after the lock is
  Shard& shard = shard_of(hash);
  MutexLock lock(shard.mutex);
  if (owner.next_change_.load() > moment || !shard.lists.takes(bytes)) return;
  gone = shard.lists.put(std::move(made));
}

void TermCache::erase(const Owner& owner, std::string_view term) {
  const uint64_t hash = hash_of_owned(owner.number_, term);
  Shard& shard = shard_of(hash);
  MutexLock lock(shard.mutex);
  shard.lists.erase(hash);
}

size_t TermCache::bytes() const {
  size_t sum = 0;
  for (const Shard& shard : shards_) {
    MutexLock lock(shard.mutex);
    sum += shard.lists.bytes();
  }
  return sum;
}

}  // namespace orrery::partition
