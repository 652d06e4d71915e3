// See removal_log.h.
#include "partition/removal_log.h"

#include <algorithm>
#include <exception>

#include "partition/partition.h"
#include "partition/writer.h"

namespace orrery::partition {

void RemovalLog::add(uint64_t lsn, std::vector<std::string> keys) noexcept {
  if (keys.empty()) return;
  try {
    MutexLock lock(mutex_);
    for (std::string& key : keys) removed_.emplace_back(lsn, std::move(key));
    while (removed_.size() > kRemovalsMax) {
      after_ = std::max(after_, removed_.front().first);
      removed_.pop_front();
    }
  } catch (const std::exception&) {  // no memory
    forget(lsn);
  }
}

void RemovalLog::forget(uint64_t lsn) noexcept {
  MutexLock lock(mutex_);
  removed_.clear();
  after_ = std::max(after_, lsn);
}

std::optional<std::vector<std::string>> RemovalLog::since(uint64_t lsn) const {
  MutexLock lock(mutex_);
  if (lsn < after_) return std::nullopt;
  std::vector<std::string> keys;
  for (auto one = removed_.rbegin(); one != removed_.rend() && one->first > lsn; ++one) {
    keys.push_back(one->second);
  }
  return keys;
}

std::optional<std::vector<std::string>> removed_since(const Partition& partition, uint64_t lsn) {
  return Writer::of(partition).removals().since(lsn);
}

}  // namespace orrery::partition
