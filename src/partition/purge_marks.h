// A purge deletes all items of a logical partition at once, with one tombstone for all of them.
//
// The tombstone is one small write, a mark: it hides the items of this placement key that were
// written before it from every reader and writer. Partition::collect_purged removes the items and
// frees their space later, step by step, and then the mark is deleted. Marks are stored in the
// partition's files, so they survive restarts and splits.
//
// Invariants
//  - A mark hides the items whose LSN is at most the mark's. Later writes stay visible.
//  - A mark is published after its commit and before its caller is told. It is withdrawn after the
//    last of its items has left the files. So a reader that takes the marks first and its snapshot
//    second never sees a purged item.
//
// Threading: marks are immutable. PurgeBoard: any thread may read, the writer alone sets.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/thread_annotations.h"
#include "partition/item.h"

namespace orrery::partition {

// By what the keys of the items begin with (items_from(placement)): the LSN of the purge.
using PurgeMarks = std::map<std::string, uint64_t, std::less<>>;
using PurgeMarksPtr = std::shared_ptr<const PurgeMarks>;  // null: there are none

// The LSN of the purge that an item's key is under, if there is one.
std::optional<uint64_t> purge_of(const PurgeMarks& marks, std::string_view item_key);

class PurgeBoard {
 public:
  PurgeMarksPtr now() const;
  void set(PurgeMarksPtr marks) noexcept;

 private:
  // Most partitions never have a mark, and every read asks.
  std::atomic<bool> any_{false};
  mutable Mutex mutex_;
  PurgeMarksPtr marks_ ORRERY_GUARDED_BY(mutex_);
};

// Which of the stored items a reader sees: neither expired nor purged. Made before the snapshot
// that it is used with.
struct Visibility {
  std::optional<int64_t> default_life_ms;
  int64_t now_ms = 0;  // expiry is decided once, so that reads repeat
  PurgeMarksPtr purges;

  bool sees(std::string_view item_key, const Item& item) const {
    if (is_expired(item, default_life_ms, now_ms)) return false;
    return !purges || !is_purged(item_key, item);
  }
  bool sees_all() const { return !default_life_ms && !purges; }

 private:
  bool is_purged(std::string_view item_key, const Item& item) const;
};

}  // namespace orrery::partition
