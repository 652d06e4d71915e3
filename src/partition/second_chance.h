// One shard of a cache with second-chance (clock) eviction, bounded in memory, keyed by owner and
// key: the oldest entry is evicted first, unless it was hit since it was put or last spared. The
// user locks the shard.
//
// A lookup in a large cache is bound by memory latency. So it touches two places only: a slot of an
// open-addressing table, and the entry, which has its key inline.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

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
    uint64_t owner;
    uint64_t hash;
    size_t key_size;
    Value value;
    size_t bytes;        // that it is counted as
    bool found = false;  // since it was put, or last spared
    Entry* newer = nullptr;
    Entry* older = nullptr;

    // Follows the entry in memory.
    char* key_bytes() { return reinterpret_cast<char*>(this + 1); }
    std::string_view key() { return {key_bytes(), key_size}; }
  };
  struct Free {
    void operator()(Entry* entry) const {
      entry->~Entry();
      ::operator delete(entry);
    }
  };
  using EntryPtr = std::unique_ptr<Entry, Free>;

  // `hash` is hash_of_owned().
  static EntryPtr make(uint64_t owner, uint64_t hash, std::string_view key, Value value,
                       size_t bytes) {
    void* memory = ::operator new(sizeof(Entry) + key.size());
    EntryPtr entry(new (memory) Entry{.owner = owner,
                                      .hash = hash,
                                      .key_size = key.size(),
                                      .value = std::move(value),
                                      .bytes = bytes});
    std::ranges::copy(key, entry->key_bytes());
    return entry;
  }

  explicit SecondChance(size_t bytes_max) : bytes_max_(bytes_max) {}
  ~SecondChance() {
    while (newest_ != nullptr) remove(slot_of(*newest_));
  }
  SecondChance(const SecondChance&) = delete;
  SecondChance& operator=(const SecondChance&) = delete;

  // Null when it is not there.
  const Value* find(uint64_t owner, uint64_t hash, std::string_view key) {
    const size_t at = find_slot(hash);
    if (at == kNone) return nullptr;
    Entry& entry = *slots_[at].entry;
    if (entry.owner != owner || entry.key() != key) return nullptr;
    // Its place in the order is left alone: to move it would touch its neighbours, far away.
    entry.found = true;
    return &entry.value;
  }

  // Gives what had to go for it, to be freed when the shard is not locked any more.
  std::vector<EntryPtr> put(EntryPtr made) {
    std::vector<EntryPtr> gone;
    // Two keys with one hash take one another's place.
    if (const size_t at = find_slot(made->hash); at != kNone) gone.push_back(remove(at));
    if (slots_.size() < 2 * (count_ + 1)) grow();
    bytes_ += made->bytes;
    ++count_;
    append(*made);
    insert(made.release());
    while (bytes_ > bytes_max_) {
      Entry& oldest = *oldest_;
      if (std::exchange(oldest.found, false)) {
        unlink(oldest);
        append(oldest);
      } else {
        gone.push_back(remove(slot_of(oldest)));
      }
    }
    return gone;
  }

  void erase(uint64_t hash) {
    if (const size_t at = find_slot(hash); at != kNone) remove(at);
  }

  // One value does not push out all the others.
  bool takes(size_t bytes) const { return bytes <= bytes_max_ / 8; }
  size_t bytes() const { return bytes_; }

 private:
  struct Slot {
    uint64_t hash = 0;
    Entry* entry = nullptr;
  };
  static constexpr size_t kNone = ~size_t{0};

  size_t mask() const { return slots_.size() - 1; }
  // A shard has hashes whose lowest bits are alike.
  size_t home(uint64_t hash) const { return (hash >> 8) & mask(); }

  size_t find_slot(uint64_t hash) const {
    if (slots_.empty()) return kNone;
    for (size_t at = home(hash); slots_[at].entry != nullptr; at = (at + 1) & mask()) {
      if (slots_[at].hash == hash) return at;
    }
    return kNone;
  }
  size_t slot_of(const Entry& entry) const { return find_slot(entry.hash); }

  void insert(Entry* entry) {
    size_t at = home(entry->hash);
    while (slots_[at].entry != nullptr) at = (at + 1) & mask();
    slots_[at] = {entry->hash, entry};
  }

  void grow() {
    std::vector<Slot> before(std::max<size_t>(16, 2 * slots_.size()));
    before.swap(slots_);
    for (const Slot& slot : before) {
      if (slot.entry != nullptr) insert(slot.entry);
    }
  }

  EntryPtr remove(size_t at) {
    EntryPtr gone(slots_[at].entry);
    // Those that had to go past the slot move up.
    for (size_t next = (at + 1) & mask(); slots_[next].entry != nullptr;
         next = (next + 1) & mask()) {
      const size_t way_to_next = (next - home(slots_[next].hash)) & mask();
      if (way_to_next >= ((next - at) & mask())) {
        slots_[at] = slots_[next];
        at = next;
      }
    }
    slots_[at] = {};
    unlink(*gone);
    bytes_ -= gone->bytes;
    --count_;
    return gone;
  }

  void append(Entry& entry) {
    entry.newer = nullptr;
    entry.older = newest_;
    (newest_ != nullptr ? newest_->newer : oldest_) = &entry;
    newest_ = &entry;
  }
  void unlink(Entry& entry) {
    (entry.newer != nullptr ? entry.newer->older : newest_) = entry.older;
    (entry.older != nullptr ? entry.older->newer : oldest_) = entry.newer;
  }

  const size_t bytes_max_;
  size_t bytes_ = 0;
  size_t count_ = 0;
  std::vector<Slot> slots_;  // at most half of them taken
  Entry* newest_ = nullptr;
  Entry* oldest_ = nullptr;
};

}  // namespace orrery::partition
