// What retryable writes were answered: a client that lost a connection sends a write again, with
// the same session and transaction number, and is given the answer that it missed.
//
// Of each session the newest number is remembered, in memory. What a write did is also kept with
// the write itself (retryable_write.h), for retries of what this does not remember. The number of
// sessions is bounded; the one that was used longest ago is forgotten.
//
// Threading: any thread.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/thread_annotations.h"

namespace orrery::mongo {

class RetryMemory {
 public:
  static constexpr size_t kSessionsMax = 10'000;
  static constexpr size_t kAnswerBytesMax = 64 * 1024;  // larger ones are not kept

  enum class State : uint8_t {
    fresh,    // run it, and call done()
    old,      // there was a newer number: refuse it
    other,    // the number was that of another command: refuse it
    running,  // the same is being run
    known,    // `answer` has what it was answered
  };
  struct Begun {
    State state = State::fresh;
    std::string answer;
    bool may_be_done = false;  // in part, or by another process: of a fresh one
  };
  // `what`: the command and its collection.
  Begun begin(std::string_view session, int64_t number, std::string_view what);
  // The members of the answer; nothing: it failed, and may be run again.
  void done(std::string_view session, int64_t number, std::optional<std::string> answer);

 private:
  struct Kept {
    int64_t number = -1;
    std::string what;
    bool is_running = false;
    std::optional<std::string> answer;
    std::list<std::string>::iterator place;
  };
  Mutex mutex_;
  std::map<std::string, Kept, std::less<>> sessions_ ORRERY_GUARDED_BY(mutex_);
  std::list<std::string> by_use_ ORRERY_GUARDED_BY(mutex_);  // the newest first
};

}  // namespace orrery::mongo
