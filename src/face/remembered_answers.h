// What a node has answered to writes that other nodes sent, for a sender that got no answer and
// asks again. A write is told by its key, which is new for each sending, and is run once however
// often it comes.
//
// A key that is not known was not run here, if the request was sent after this began to remember
// and nothing since was left out for want of room. Otherwise nobody can tell, and it is not run.
//
// Threading: any thread. `done` is called without a lock held.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/thread_annotations.h"
#include "peer/forward.h"

namespace orrery::face {

class RememberedAnswers {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // Longer than any sender asks again.
  static constexpr std::chrono::seconds kKeptFor{60};

  explicit RememberedAnswers(size_t bytes_max = 16U << 20, size_t answers_max = 16'384,
                             std::function<TimePoint()> now = std::chrono::steady_clock::now)
      : bytes_max_(bytes_max),
        answers_max_(answers_max),
        now_(std::move(now)),
        untold_until_(now_() + kKeptFor) {}

  // What is to be told when the request was run. Null: `done` has its answer, or will have it.
  // `sent_before`: for how long the sender has been asking; 0: it asks for the first time.
  peer::ForwardDone begin(const std::string& key, std::chrono::milliseconds sent_before,
                          peer::ForwardDone done);

 private:
  class Running;
  struct Entry {
    TimePoint begun;
    std::optional<Result<peer::ForwardAnswer>> answer;  // nothing: it is being run
    std::vector<peer::ForwardDone> waiting;
  };

  void finish(const std::string& key, Result<peer::ForwardAnswer> answer);
  void drop_old(TimePoint now) ORRERY_REQUIRES(mutex_);
  static size_t cost(const std::string& key, const Result<peer::ForwardAnswer>& answer);

  const size_t bytes_max_;
  const size_t answers_max_;
  const std::function<TimePoint()> now_;

  Mutex mutex_;
  std::map<std::string, Entry> entries_ ORRERY_GUARDED_BY(mutex_);
  std::deque<std::string> answered_ ORRERY_GUARDED_BY(mutex_);  // keys, oldest first
  size_t bytes_ ORRERY_GUARDED_BY(mutex_) = 0;                  // of answers
  // Until then a key that is not known tells nothing: it may be of before, or was left out.
  TimePoint untold_until_ ORRERY_GUARDED_BY(mutex_);
};

}  // namespace orrery::face
