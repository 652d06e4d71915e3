// Compaction filters that drop data outside a partition's range, which a child of a split inherits
// with its parent's files.
#pragma once

#include <rocksdb/compaction_filter.h>

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

namespace orrery::partition {

// The range that the filters keep. Terms, changes and history of items outside of it are dropped.
// The filters keep everything until a range is set.
class RangeFilter {
 public:
  // Before any compaction can run with it active; the range never changes afterwards.
  void activate(std::string min, std::string max);
  void deactivate() { active_.store(false, std::memory_order_release); }
  bool keeps(std::string_view placement) const { return placement >= min_ && placement < max_; }
  bool active() const { return active_.load(std::memory_order_acquire); }

 private:
  std::string min_;
  std::string max_;
  std::atomic<bool> active_{false};
};

// For the families of that name; `range` must outlive them.
std::unique_ptr<rocksdb::CompactionFilter> make_terms_filter(const RangeFilter& range);
std::unique_ptr<rocksdb::CompactionFilter> make_changes_filter(const RangeFilter& range);
std::unique_ptr<rocksdb::CompactionFilter> make_history_filter(const RangeFilter& range);

}  // namespace orrery::partition
