// See item_cache.h.
#include "partition/item_cache.h"

#include <functional>
#include <utility>

namespace orrery::partition {
namespace {

// What an entry takes beside its key and body: nodes of the list and the map, the item's header.
constexpr size_t kEntryBytes = 256;
// One item does not push out a shard.
constexpr size_t kShareMax = 8;

}  // namespace

ItemCache::ItemCache(size_t bytes_max) : shard_bytes_max_(bytes_max / kShards) {}

uint64_t ItemCache::hash_of(uint64_t owner, std::string_view key) {
  // The owner's number is spread over all bits, so that equal keys of two owners part.
  return std::hash<std::string_view>()(key) ^ (owner * 0x9E3779B97F4A7C15ULL);
}

void ItemCache::Shard::erase(uint64_t hash) {
  auto found = by_hash.find(hash);
  if (found == by_hash.end()) return;
  bytes -= found->second->bytes;
  entries.erase(found->second);
  by_hash.erase(found);
}

std::shared_ptr<const Item> ItemCache::find(uint64_t owner, std::string_view key, Ticket& ticket) {
  ticket.hash = hash_of(owner, key);
  Shard& shard = shard_of(ticket.hash);
  MutexLock lock(shard.mutex);
  ticket.changes = shard.changes;
  auto found = shard.by_hash.find(ticket.hash);
  if (found == shard.by_hash.end()) return nullptr;
  const Entries::iterator entry = found->second;
  if (entry->owner != owner || entry->key != key) return nullptr;
  // Its place in the list is left alone: to move it would touch its neighbours, far away in memory.
  entry->found = true;
  return entry->item;
}

void ItemCache::put(uint64_t owner, std::string_view key, std::shared_ptr<const Item> item,
                    const Ticket& ticket) {
  const size_t bytes = kEntryBytes + key.size() + item->body.size();
  if (bytes > shard_bytes_max_ / kShareMax) return;
  Entries made;
  made.push_back({owner, ticket.hash, std::string(key), std::move(item), bytes, false});
  Entries gone;  // freed after the lock is
  Shard& shard = shard_of(ticket.hash);
  MutexLock lock(shard.mutex);
  if (shard.open > 0 || shard.changes != ticket.changes) return;
  shard.erase(ticket.hash);
  shard.entries.splice(shard.entries.begin(), made);
  shard.by_hash[ticket.hash] = shard.entries.begin();
  shard.bytes += bytes;
  while (shard.bytes > shard_bytes_max_) {
    const Entries::iterator last = std::prev(shard.entries.end());
    if (std::exchange(last->found, false)) {
      shard.entries.splice(shard.entries.begin(), shard.entries, last);
      continue;
    }
    shard.bytes -= last->bytes;
    shard.by_hash.erase(last->hash);
    gone.splice(gone.begin(), shard.entries, last);
  }
}

ItemCache::Change::Change(ItemCache& cache, uint64_t owner, const std::vector<std::string>& keys)
    : cache_(cache) {
  hashes_.reserve(keys.size());
  for (const std::string& key : keys) {
    const uint64_t hash = hash_of(owner, key);
    hashes_.push_back(hash);
    Shard& shard = cache_.shard_of(hash);
    MutexLock lock(shard.mutex);
    ++shard.changes;
    ++shard.open;
    shard.erase(hash);
  }
}

ItemCache::Change::~Change() {
  for (const uint64_t hash : hashes_) {
    Shard& shard = cache_.shard_of(hash);
    MutexLock lock(shard.mutex);
    // Counted again: a ticket from within the change is void as well.
    ++shard.changes;
    --shard.open;
  }
}

size_t ItemCache::bytes() const {
  size_t sum = 0;
  for (const Shard& shard : shards_) {
    MutexLock lock(shard.mutex);
    sum += shard.bytes;
  }
  return sum;
}

}  // namespace orrery::partition
