// The records that are under way, in the order in which they were read. They are done in any order;
// a record is passed when it and all before it are done. So a checkpoint that says how far was
// passed never leaves out a record, and rejected records are reported once, in order.
//
// Threading: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace orrery::transfer {

// A place in a source: which file or range, and how far in it.
struct Mark {
  uint32_t part = 0;
  uint64_t at = 0;
  uint64_t line = 0;  // of a file
};

enum class Outcome : uint8_t { written, present, rejected };

class Ledger {
 public:
  // Called in order; `reject` is the line about a rejected record, otherwise empty.
  using Passed = std::function<void(const Mark&, Outcome, std::string reject)>;
  explicit Ledger(Passed passed) : passed_(std::move(passed)) {}

  bool has_room() const { return entries_.size() < kMaxEntries && held_bytes_ < kMaxHeldBytes; }
  bool is_empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  // The ticket of a record that was read.
  uint64_t add(Mark mark) {
    entries_.push_back({.mark = mark, .outcome = {}, .reject = {}});
    return first_ + entries_.size() - 1;
  }
  const Mark& mark(uint64_t ticket) const { return entries_[ticket - first_].mark; }
  void done(uint64_t ticket, Outcome outcome, std::string reject = {}) {
    Entry& entry = entries_[ticket - first_];
    entry.outcome = outcome;
    held_bytes_ += reject.size();
    entry.reject = std::move(reject);
    while (!entries_.empty() && entries_.front().outcome) {
      Entry front = std::move(entries_.front());
      entries_.pop_front();
      ++first_;
      held_bytes_ -= front.reject.size();
      passed_(front.mark, *front.outcome, std::move(front.reject));
    }
  }

 private:
  static constexpr size_t kMaxEntries = 200'000;
  static constexpr size_t kMaxHeldBytes = 32ULL << 20;
  struct Entry {
    Mark mark;
    std::optional<Outcome> outcome;  // nothing while it is under way
    std::string reject;
  };

  Passed passed_;
  std::deque<Entry> entries_;
  uint64_t first_ = 0;  // the ticket of the front
  size_t held_bytes_ = 0;
};

}  // namespace orrery::transfer
