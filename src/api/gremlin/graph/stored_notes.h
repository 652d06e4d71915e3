// What this process has stored in a graph's partitions lately, by LSN. A KnownGraph that follows a
// partition takes it from here, where all of it is here, and need not read the change feed.
//
// A transaction has its LSNs for itself, so what is noted of an LSN is all that happened at it.
//
// Threading: any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/gremlin/traversal/graph.h"
#include "base/thread_annotations.h"

namespace orrery::gremlin {

class StoredNotes {
 public:
  // Of all partitions: beyond that everything is forgotten. A change takes some 300 bytes.
  static constexpr size_t kChangesMax = 16'384;

  struct Change {
    std::string placement;
    std::string row;
    EdgePtr edge;            // as it was written; null for a vertex, and for what was removed
    uint32_t new_bytes = 0;  // of an edge that was not there before: its item's JSON
  };
  struct Stored {
    uint64_t lsn;
    Change change;
  };

  explicit StoredNotes(size_t parts) : noted_(parts) {}

  // All changes of one transaction.
  void add(size_t part, std::vector<Stored> transaction);
  // Every change after `from`, up to `to`, which are forgotten then; nothing when some of that time
  // are not known.
  std::optional<std::vector<Change>> take(size_t part, uint64_t from, uint64_t to);
  // How many are noted. Without waiting.
  size_t changes() const { return changes_; }

 private:
  using ByLsn = std::map<uint64_t, std::vector<Change>>;
  void forget(ByLsn& noted, ByLsn::iterator end) ORRERY_REQUIRES(mutex_);

  Mutex mutex_;
  std::vector<ByLsn> noted_ ORRERY_GUARDED_BY(mutex_);  // by partition
  std::atomic<size_t> changes_ = 0;                     // set with mutex_
};

}  // namespace orrery::gremlin
