// See retry_memory.h.
#include "api/mongo/documents/retry_memory.h"

namespace orrery::mongo {

RetryMemory::Begun RetryMemory::begin(std::string_view session, int64_t number,
                                      std::string_view what) {
  MutexLock lock(mutex_);
  auto found = sessions_.find(session);
  const bool is_new = found == sessions_.end();
  if (is_new) {
    if (sessions_.size() >= kSessionsMax) {
      sessions_.erase(by_use_.back());
      by_use_.pop_back();
    }
    by_use_.emplace_front(session);
    found = sessions_.emplace(std::string(session), Kept{}).first;
    found->second.place = by_use_.begin();
  }
  Kept& kept = found->second;
  by_use_.splice(by_use_.begin(), by_use_, kept.place);
  if (number < kept.number) return {State::old, {}};
  if (number == kept.number) {
    if (kept.what != what) return {State::other, {}};
    if (kept.is_running) return {State::running, {}};
    if (kept.answer) return {State::known, *kept.answer};
  }
  // What failed, or had too large an answer, may have been done in part.
  const bool is_again = number == kept.number;
  kept.number = number;
  kept.what = what;
  kept.is_running = true;
  kept.answer.reset();
  return {State::fresh, {}, is_new || is_again};
}

void RetryMemory::done(std::string_view session, int64_t number,
                       std::optional<std::string> answer) {
  MutexLock lock(mutex_);
  const auto found = sessions_.find(session);
  if (found == sessions_.end() || found->second.number != number) return;
  found->second.is_running = false;
  if (answer && answer->size() <= kAnswerBytesMax) found->second.answer = std::move(*answer);
}

}  // namespace orrery::mongo
