// A limit on the time and memory of one piece of work, for example one page of a query. The work
// counts its steps. Every kStepsBetweenLooks steps the budget checks its limits. Once a limit is
// exceeded, the budget is over and every further call says so. The work then stops early: its
// partial result is void, and the caller at the top asks ended() for the reason.
//
// A step takes some ten nanoseconds. Memory is what values on this thread have allocated
// (CountedBytes) since the budget started, plus what users of the budget report with hold().
//
// Threading: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace orrery {

// Counts its bytes as allocated for as long as it lives, in a counter of the current thread. If
// another thread destroys it, the counter of the first thread is not reduced. So only differences
// are meaningful, over a time in which a thread frees what it allocates itself.
class CountedBytes {
 public:
  explicit CountedBytes(size_t bytes);
  ~CountedBytes();
  CountedBytes(const CountedBytes&) = delete;
  CountedBytes& operator=(const CountedBytes&) = delete;

  static int64_t on_this_thread();

 private:
  const size_t bytes_;
};

class Budget {
 public:
  enum class Ended : uint8_t { no, time, memory };

  static constexpr uint64_t kStepsBetweenLooks = 4096;
  // To read or write so many bytes is a step.
  static constexpr size_t kBytesOfStep = 64;
  static constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();

  struct Limits {
    std::function<bool()> stop = nullptr;  // true: time is up, or nobody wants the result any more
    uint64_t free_steps = 0;  // before `stop` is asked: what takes so little is always done
    uint64_t bytes = kNoLimit;
    uint64_t steps = kNoLimit;  // for what must not depend on time
  };

  Budget() { start({}); }
  void start(Limits limits);

  // Takes so many steps. True when the work is over.
  bool spend(uint64_t steps) {
    if (steps < left_) [[likely]] {
      left_ -= steps;
      return false;
    }
    return look(steps);
  }
  bool spend_bytes(size_t bytes) { return spend(1 + bytes / kBytesOfStep); }

  // Whether so many bytes more may be taken. When not, the work is over.
  bool has_room(uint64_t bytes);
  void hold(size_t bytes) { held_ += bytes; }
  void let_go(size_t bytes) { held_ -= bytes; }

  void end(Ended why);
  Ended ended() const { return ended_; }
  bool is_over() const { return ended_ != Ended::no; }

  // Since the start.
  uint64_t steps() const { return spent_ - left_; }

 private:
  bool look(uint64_t steps);
  bool is_within(uint64_t more) const;

  uint64_t left_ = 0;   // steps until the next look; none once it is over
  uint64_t spent_ = 0;  // with those that are left until then
  Ended ended_ = Ended::no;
  Limits limits_;
  int64_t counted_at_start_ = 0;
  uint64_t held_ = 0;
};

// Bytes held of a budget; its destructor lets go of them.
class Held {
 public:
  explicit Held(Budget& budget) : budget_(budget) {}
  ~Held() { budget_.let_go(bytes_); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  void add(size_t bytes) {
    bytes_ += bytes;
    budget_.hold(bytes);
  }
  void remove(size_t bytes) {
    bytes_ -= bytes;
    budget_.let_go(bytes);
  }

 private:
  Budget& budget_;
  size_t bytes_ = 0;
};

}  // namespace orrery
