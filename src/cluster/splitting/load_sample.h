// A bounded sample of the placement keys that were read and written lately in one partition of a
// container that is placed by order: it tells where such a partition is to be cut. (Hashes spread
// load by themselves: their partitions have no sample.)
//
// Any thread may call.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/thread_annotations.h"

namespace orrery::cluster {

class LoadSample {
 public:
  // How many accesses it has at most; keys are at most some kilobytes each.
  static constexpr size_t kMax = 64;
  // Fewer say nothing about where the load is.
  static constexpr size_t kMin = 8;

  enum class Access : uint8_t { read, write };
  // Until it is full every access is taken, then some: each replaces the oldest. A write is taken
  // as often as five reads, which is about what it costs.
  void note(std::string_view placement, Access access);
  // What of another sample lies in [min, max).
  void adopt(const LoadSample& parent, std::string_view min, std::string_view max);
  size_t size() const { return size_.load(std::memory_order_relaxed); }

  // The median key of the accesses, as nearly as distinct keys allow. Empty when there are too few,
  // or all are to one key.
  std::string half() const;
  // The lower quartile of the keys of the newest writes: three quarters of them are at or beyond
  // it. Empty when there are too few.
  std::string growth() const;

 private:
  struct Taken {
    std::string placement;
    Access access;
  };
  std::vector<Taken> by_age() const;  // the oldest first

  std::atomic<uint64_t> seen_{0};
  std::atomic<size_t> size_{0};
  mutable Mutex mutex_;
  std::vector<Taken> taken_ ORRERY_GUARDED_BY(mutex_);  // a ring once it is full
  size_t oldest_ ORRERY_GUARDED_BY(mutex_) = 0;
};

}  // namespace orrery::cluster
