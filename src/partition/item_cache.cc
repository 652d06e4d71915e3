// See item_cache.h.
#include "partition/item_cache.h"

#include <utility>

namespace orrery::partition {
namespace {

// What an entry takes beside its key and body: nodes of the list and the map, the item's header.
constexpr size_t kEntryBytes = 256;

}  // namespace

ItemCache::ItemCache(size_t bytes_max) {
  for (size_t i = 0; i < kShards; ++i) shards_.emplace_back(bytes_max / kShards);
}

std::shared_ptr<const Item> ItemCache::find(uint64_t owner, std::string_view key, Ticket& ticket) {
  ticket.hash = hash_of_owned(owner, key);
  Shard& shard = shard_of(ticket.hash);
  MutexLock lock(shard.mutex);
  ticket.changes = shard.changes;
  const auto* item = shard.items.find(owner, ticket.hash, key);
  return item == nullptr ? nullptr : *item;
}

void ItemCache::put(uint64_t owner, std::string_view key, std::shared_ptr<const Item> item,
                    const Ticket& ticket) {
  using Items = SecondChance<std::shared_ptr<const Item>>;
  const size_t bytes = kEntryBytes + key.size() + item->body.size();
  auto made = Items::make(owner, ticket.hash, key, std::move(item), bytes);
  std::vector<Items::EntryPtr> gone;  // freed after the lock is
  Shard& shard = shard_of(ticket.hash);
  MutexLock lock(shard.mutex);
  if (shard.open > 0 || shard.changes != ticket.changes || !shard.items.takes(bytes)) return;
  gone = shard.items.put(std::move(made));
}

ItemCache::Change::Change(ItemCache& cache, uint64_t owner, const std::vector<std::string>& keys)
    : cache_(cache) {
  hashes_.reserve(keys.size());
  for (const std::string& key : keys) {
    const uint64_t hash = hash_of_owned(owner, key);
    hashes_.push_back(hash);
    Shard& shard = cache_.shard_of(hash);
    MutexLock lock(shard.mutex);
    ++shard.changes;
    ++shard.open;
    shard.items.erase(hash);
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
    sum += shard.items.bytes();
  }
  return sum;
}

}  // namespace orrery::partition
