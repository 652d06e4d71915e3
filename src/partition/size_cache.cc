// See size_cache.h.
#include "partition/size_cache.h"

#include <utility>
#include <vector>

namespace orrery::partition {
namespace {

// What an entry takes beside its texts: its own fields, and its slot.
constexpr size_t kSizeBytes = 160;

}  // namespace

SizeCache::SizeCache(size_t bytes_max) {
  for (size_t i = 0; i < kShards; ++i) shards_.emplace_back(bytes_max / kShards);
}

std::optional<LogicalSize> SizeCache::find(uint64_t owner, std::string_view key) {
  const uint64_t hash = hash_of_owned(owner, key);
  Shard& shard = shard_of(hash);
  MutexLock lock(shard.mutex);
  const LogicalSize* found = shard.sizes.find(owner, hash, key);
  if (found == nullptr) return std::nullopt;
  return *found;
}

void SizeCache::put(uint64_t owner, std::string_view key, const LogicalSize& size) {
  using Sizes = SecondChance<LogicalSize>;
  const uint64_t hash = hash_of_owned(owner, key);
  const size_t bytes = kSizeBytes + key.size() + size.key_text.size();
  auto made = Sizes::make(owner, hash, key, size, bytes);
  std::vector<Sizes::EntryPtr> gone;  // freed after the lock is
  Shard& shard = shard_of(hash);
  MutexLock lock(shard.mutex);
  if (!shard.sizes.takes(bytes)) return shard.sizes.erase(hash);
  gone = shard.sizes.put(std::move(made));
}

}  // namespace orrery::partition
