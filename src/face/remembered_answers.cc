// See remembered_answers.h.
#include "face/remembered_answers.h"

#include <algorithm>
#include <utility>

namespace orrery::face {
namespace {

using std::chrono::milliseconds;

constexpr size_t kEntryBytes = 256;  // of an answer beside its texts, roughly
constexpr size_t kWaitingMax = 8;    // for one that is being run

}  // namespace

// Tells the memory how a request ended, were it by being dropped.
class RememberedAnswers::Running {
 public:
  Running(RememberedAnswers& memory, std::string key) : memory_(&memory), key_(std::move(key)) {}
  Running(Running&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)), key_(std::move(other.key_)) {}
  Running& operator=(Running&&) = delete;
  ~Running() {
    if (memory_ != nullptr) {
      memory_->finish(key_, fail(Code::internal, "the node dropped the request on its way"));
    }
  }
  void operator()(Result<peer::ForwardAnswer> answer) {
    std::exchange(memory_, nullptr)->finish(key_, std::move(answer));
  }

 private:
  RememberedAnswers* memory_;
  std::string key_;
};

peer::ForwardDone RememberedAnswers::begin(const std::string& key, milliseconds sent_before,
                                           peer::ForwardDone done) {
  const TimePoint now = now_();
  std::optional<Result<peer::ForwardAnswer>> answer;
  {
    MutexLock lock(mutex_);
    drop_old(now);
    if (const auto found = entries_.find(key); found != entries_.end()) {
      Entry& entry = found->second;
      if (!entry.answer && entry.waiting.size() < kWaitingMax) {
        entry.waiting.push_back(std::move(done));
        return nullptr;
      }
      answer = entry.answer.value_or(fail(Code::internal, "it is being run"));
    } else if (sent_before > milliseconds(0) &&
               (now - sent_before <= untold_until_ || sent_before >= kKeptFor)) {
      answer = fail(Code::not_found,
                    "the node that was asked does not remember whether it has run the request");
    } else if (entries_.size() >= answers_max_ || bytes_ >= bytes_max_) {
      // All of it is younger than what senders ask for.
      untold_until_ = now + kKeptFor;
      return done;
    } else {
      Entry& entry = entries_[key];
      entry.begun = now;
      entry.waiting.push_back(std::move(done));
    }
  }
  if (!answer) return Running(*this, key);
  done(std::move(*answer));
  return nullptr;
}

void RememberedAnswers::finish(const std::string& key, Result<peer::ForwardAnswer> answer) {
  std::vector<peer::ForwardDone> waiting;
  {
    MutexLock lock(mutex_);
    Entry& entry = entries_[key];
    waiting = std::move(entry.waiting);
    entry.waiting.clear();
    entry.answer = answer;
    bytes_ += cost(key, answer);
    answered_.push_back(key);
  }
  for (size_t i = 1; i < waiting.size(); ++i) waiting[i](answer);
  if (!waiting.empty()) waiting.front()(std::move(answer));
}

void RememberedAnswers::drop_old(TimePoint now) {
  while (!answered_.empty()) {
    const auto oldest = entries_.find(answered_.front());
    if (now - oldest->second.begun < kKeptFor) return;
    bytes_ -= cost(oldest->first, *oldest->second.answer);
    entries_.erase(oldest);
    answered_.pop_front();
  }
}

size_t RememberedAnswers::cost(const std::string& key, const Result<peer::ForwardAnswer>& answer) {
  const size_t texts =
      answer ? answer->headers.size() + answer->body.size() : answer.error().message.size();
  return kEntryBytes + 2 * key.size() + texts;
}

}  // namespace orrery::face
