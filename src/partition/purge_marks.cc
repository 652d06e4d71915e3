// See purge_marks.h.
#include "partition/purge_marks.h"

namespace orrery::partition {

std::optional<uint64_t> purge_of(const PurgeMarks& marks, std::string_view item_key) {
  // What keys begin with is never the beginning of another such text: the nearest one before the
  // key is the only one that it can begin with.
  auto after = marks.upper_bound(item_key);
  if (after == marks.begin()) return std::nullopt;
  const auto& [prefix, lsn] = *std::prev(after);
  if (!item_key.starts_with(prefix)) return std::nullopt;
  return lsn;
}

PurgeMarksPtr PurgeBoard::now() const {
  if (!any_.load(std::memory_order_acquire)) return nullptr;
  MutexLock lock(mutex_);
  return marks_;
}

void PurgeBoard::set(PurgeMarksPtr marks) noexcept {
  if (marks && marks->empty()) marks = nullptr;
  MutexLock lock(mutex_);
  marks_ = std::move(marks);
  any_.store(marks_ != nullptr, std::memory_order_release);
}

bool Visibility::is_purged(std::string_view item_key, const Item& item) const {
  const auto lsn = purge_of(*purges, item_key);
  return lsn && item.version.lsn <= *lsn;
}

}  // namespace orrery::partition
