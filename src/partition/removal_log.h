// The newest removals of a partition. The change feed (changes.cc) tells of items that were
// written, and not of those that are gone: with both, whoever keeps decoded items in memory learns
// what is out of date.
//
// Invariant: a removal is in the log before the partition's lsn() includes it.
//
// Threading: any thread.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/thread_annotations.h"

namespace orrery::partition {

class Partition;

class RemovalLog {
 public:
  static constexpr size_t kRemovalsMax = 1024;

  // It knows of the removals after `lsn`.
  explicit RemovalLog(uint64_t lsn) : after_(lsn) {}

  // The items with these stored keys went with the commit that ended at `lsn`.
  void add(uint64_t lsn, std::vector<std::string> keys) noexcept;
  // Others went that are not named: what is asked of the time before is not known.
  void forget(uint64_t lsn) noexcept;
  // The stored keys of items that were removed after `lsn`, and maybe of some before; nothing when
  // the log does not go back that far.
  std::optional<std::vector<std::string>> since(uint64_t lsn) const;

 private:
  mutable Mutex mutex_;
  uint64_t after_ ORRERY_GUARDED_BY(mutex_);
  std::deque<std::pair<uint64_t, std::string>> removed_ ORRERY_GUARDED_BY(mutex_);
};

// Of a partition that this process writes.
std::optional<std::vector<std::string>> removed_since(const Partition& partition, uint64_t lsn);

}  // namespace orrery::partition
