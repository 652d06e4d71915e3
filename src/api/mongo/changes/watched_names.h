// The names that change streams are open over, in this process: a collection that is made under one
// of them keeps a history from its first document on.
//
// Threading: any thread.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/thread_annotations.h"

namespace orrery::mongo {

class WatchedNames {
 public:
  static constexpr size_t kNamesMax = 10'000;

  // An empty collection: all of the database. Both empty: all of every database.
  void add(std::string_view database, std::string_view collection) {
    MutexLock lock(mutex_);
    if (names_.size() >= kNamesMax) {
      is_everything_ = true;
    } else {
      names_.emplace(database, collection);
    }
  }
  bool has(std::string_view database, std::string_view collection) const {
    MutexLock lock(mutex_);
    return is_everything_ || is_there("", "") || is_there(database, "") ||
           is_there(database, collection);
  }

 private:
  bool is_there(std::string_view database, std::string_view collection) const
      ORRERY_REQUIRES(mutex_) {
    return names_.contains({std::string(database), std::string(collection)});
  }

  mutable Mutex mutex_;
  std::set<std::pair<std::string, std::string>> names_ ORRERY_GUARDED_BY(mutex_);
  bool is_everything_ ORRERY_GUARDED_BY(mutex_) = false;
};

}  // namespace orrery::mongo
