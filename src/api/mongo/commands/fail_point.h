// Failures on purpose, for the tests of drivers. Only with --dev. configureFailPoint knows
//   failCommand                     the next commands of some names fail
//   failGetMoreAfterCursorCheckout  the same of getMore, with the label that change streams have
//   onPrimaryTransactionalWrite     the connection of the next writes that may be retried is
//   closed,
//                                   after the write or, with failBeforeCommitExceptionCode, before
//   maxTimeAlwaysTimeOut            commands with maxTimeMS run out of it
// One of the first three is on at a time.
//
// Threading: any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/mongo/bson/error.h"
#include "base/thread_annotations.h"
#include "value/value.h"

namespace orrery::mongo {

// What is to become of a command.
struct ForcedFailure {
  std::vector<std::string> commands;
  std::string app_name;       // of the clients that are meant; empty: all
  bool needs_number = false;  // writes that may be retried are meant, of those commands
  std::chrono::milliseconds blocks_for{0};  // first of all
  bool closes_connection = false;
  bool closes_after = false;  // when the command is done, in the place of its answer
  std::optional<int32_t> code = {};
  std::optional<std::vector<std::string>> labels = {};  // unset: those that the code has
  value::Value write_concern_error = {};                // told beside what was done
};

class FailPoint {
 public:
  // The command configureFailPoint. 238 for what it does not offer.
  Answer<void> configure(const value::Value& command);
  // Nothing: the command is run.
  std::optional<ForcedFailure> take(std::string_view command, std::string_view app_name,
                                    bool has_number);
  bool is_out_of_time() const { return is_out_of_time_.load(std::memory_order_relaxed); }
  int64_t times_entered() const { return entered_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> is_on_ = false;
  std::atomic<bool> is_out_of_time_ = false;
  std::atomic<int64_t> entered_ = 0;
  Mutex mutex_;
  ForcedFailure failure_ ORRERY_GUARDED_BY(mutex_);
  int64_t skip_ ORRERY_GUARDED_BY(mutex_) = 0;
  int64_t left_ ORRERY_GUARDED_BY(mutex_) = 0;  // how often
};

// Whether drivers are told that a write that failed with this code may be sent again.
bool has_retryable_label(int32_t code);

}  // namespace orrery::mongo
