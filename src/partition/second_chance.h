// Values by owner and key, bounded in memory: the oldest go first, unless they were found since
// they were put; those stay for another round. One shard of a cache; who uses it locks it.
#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace orrery::partition {

// Equal keys of two owners part.
inline uint64_t hash_of_owned(uint64_t owner, std::string_view key) {
  // The owner's number is spread over all bits.
  return std::hash<std::string_view>()(key) ^ (owner * 0x9E3779B97F4A7C15ULL);
}

template <class Value>
class SecondChance {
 public:
  struct Entry {
    uint64_t owner = 0;
    uint64_t hash = 0;  // hash_of_owned()
    std::string key;
    Value value;
    size_t bytes = 0;
    bool found = false;  // since it was put, or last spared
  };
  using Entries = std::list<Entry>;

  explicit SecondChance(size_t bytes_max) : bytes_max_(bytes_max) {}

  // Null when it is not there.
  const Value* find(uint64_t owner, uint64_t hash, std::string_view key) {
    auto found = by_hash_.find(hash);
    if (found == by_hash_.end()) return nullptr;
    const typename Entries::iterator entry = found->second;
    if (entry->owner != owner || entry->key != key) return nullptr;
    // Its place in the list is left alone: to move it would touch its neighbours, far away in
    // memory.
    entry->found = true;
    return &entry->value;
  }

  // Puts what is in `made`, which is one entry, and gives what had to go for it, to be freed when
  // the shard is not locked any more.
  Entries put(Entries made) {
    Entries gone;
    const uint64_t hash = made.front().hash;
    erase(hash);
    entries_.splice(entries_.begin(), made);
    by_hash_[hash] = entries_.begin();
    bytes_ += entries_.front().bytes;
    while (bytes_ > bytes_max_) {
      const typename Entries::iterator last = std::prev(entries_.end());
      if (std::exchange(last->found, false)) {
        entries_.splice(entries_.begin(), entries_, last);
        continue;
      }
      bytes_ -= last->bytes;
      by_hash_.erase(last->hash);
      gone.splice(gone.begin(), entries_, last);
    }
    return gone;
  }

  void erase(uint64_t hash) {
    auto found = by_hash_.find(hash);
    if (found == by_hash_.end()) return;
    bytes_ -= found->second->bytes;
    entries_.erase(found->second);
    by_hash_.erase(found);
  }

  // One value does not push out all the others.
  bool takes(size_t bytes) const { return bytes <= bytes_max_ / 8; }
  size_t bytes() const { return bytes_; }

 private:
  const size_t bytes_max_;
  size_t bytes_ = 0;
  Entries entries_;  // the newest first
  // Two keys with one hash take one another's place.
  std::unordered_map<uint64_t, typename Entries::iterator> by_hash_;
};

}  // namespace orrery::partition
