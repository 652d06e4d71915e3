// At which nodes the cursors are that clients of this node have opened elsewhere, and whose they
// are. Bounded: the oldest is forgotten first, and its next getMore says that there is no such
// cursor.
//
// Threading: any thread.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/thread_annotations.h"

namespace orrery::mongo {

class CursorPlaces {
 public:
  static constexpr size_t kPlacesMax = 10'000;

  void add(int64_t id, std::string user, std::string address) {
    const MutexLock lock(mutex_);
    if (!places_.insert_or_assign(id, Place{std::move(user), std::move(address)}).second) return;
    by_age_.push_back(id);
    while (places_.size() > kPlacesMax) {
      places_.erase(by_age_.front());
      by_age_.pop_front();
    }
    // Those that were removed are still here.
    while (by_age_.size() > 2 * kPlacesMax) {
      std::erase_if(by_age_,
                    [this](int64_t old) ORRERY_REQUIRES(mutex_) { return !places_.contains(old); });
    }
  }
  void remove(int64_t id) {
    const MutexLock lock(mutex_);
    places_.erase(id);
  }
  std::optional<std::string> find(int64_t id) const {
    const MutexLock lock(mutex_);
    const auto found = places_.find(id);
    return found == places_.end() ? std::nullopt : std::optional(found->second.address);
  }
  // Removes it, if it is this user's, and gives where it is.
  std::optional<std::string> take_of(std::string_view user, int64_t id) {
    const MutexLock lock(mutex_);
    const auto found = places_.find(id);
    if (found == places_.end() || found->second.user != user) return std::nullopt;
    std::string address = std::move(found->second.address);
    places_.erase(found);
    return address;
  }

 private:
  struct Place {
    std::string user;
    std::string address;
  };
  mutable Mutex mutex_;
  std::unordered_map<int64_t, Place> places_ ORRERY_GUARDED_BY(mutex_);
  std::deque<int64_t> by_age_ ORRERY_GUARDED_BY(mutex_);
};

}  // namespace orrery::mongo
