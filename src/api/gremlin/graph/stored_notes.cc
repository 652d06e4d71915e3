// See stored_notes.h.
#include "api/gremlin/graph/stored_notes.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace orrery::gremlin {

void StoredNotes::add(size_t part, std::vector<Stored> transaction) {
  const MutexLock lock(mutex_);
  if (changes_ + transaction.size() > kChangesMax) {
    for (ByLsn& noted : noted_) noted.clear();
    changes_ = 0;
  }
  if (transaction.size() > kChangesMax) return;
  changes_ += transaction.size();
  for (Stored& one : transaction) noted_[part][one.lsn].push_back(std::move(one.change));
}

void StoredNotes::forget(ByLsn& noted, ByLsn::iterator end) {
  for (auto at = noted.begin(); at != end; ++at) changes_ -= at->second.size();
  noted.erase(noted.begin(), end);
}

std::optional<std::vector<StoredNotes::Change>> StoredNotes::take(size_t part, uint64_t from,
                                                                  uint64_t to) {
  const MutexLock lock(mutex_);
  ByLsn& noted = noted_[part];
  forget(noted, noted.upper_bound(from));
  const auto end = noted.upper_bound(to);
  // LSNs are different and lie between: they are all there when they are as many.
  const bool are_all = to - from <= noted.size() &&
                       static_cast<uint64_t>(std::distance(noted.begin(), end)) == to - from;
  std::optional<std::vector<Change>> taken;
  if (are_all) {
    taken.emplace();
    for (auto at = noted.begin(); at != end; ++at) {
      changes_ -= at->second.size();
      std::ranges::move(at->second, std::back_inserter(*taken));
    }
    noted.erase(noted.begin(), end);
  }
  return taken;
}

}  // namespace orrery::gremlin
