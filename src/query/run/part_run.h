// Reading the parts of a space by several threads. The caller's thread takes part: it does all the
// work that no other thread has taken, so a query never waits for a thread that is not yet at work
// on it. The threads are lent by `Helpers`.
//
// The results of the parts are taken on the caller's thread, in the order of the parts. So what a
// page makes of them does not depend on which thread was faster.
//
// Threads are asked for only when the work goes on for longer than waking one takes: a short query
// is faster alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace orrery::query {

// Threads that may help. They belong to the program, not to a query.
class Helpers {
 public:
  virtual ~Helpers() = default;
  virtual size_t threads() const = 0;
  // How long a query works alone before it asks for help. Waking a thread takes some 50 us on a
  // machine that is busy, and then it has to find something left to do.
  virtual int64_t alone_us() const { return 200; }
  // Runs the job on one of the threads, later, or destroys it without running it.
  virtual void post(std::move_only_function<void()> job) noexcept = 0;
};

class PartRun {
 public:
  // `helpers` null: the caller's thread does everything.
  PartRun(Helpers* helpers, size_t parts);
  ~PartRun();
  PartRun(const PartRun&) = delete;
  PartRun& operator=(const PartRun&) = delete;

  enum class Needs : uint8_t {
    all_parts,
    // The first parts may be enough. The first one is worked on alone. Each that is taken and was
    // not enough lets twice as many be begun ahead.
    first_parts,
  };
  // Calls `work` once for each part, on any thread, several at a time, and `take` after it, on this
  // thread, in the order of the parts. When `take` returns false no further part is begun, and it
  // is not called again. At the return no other thread is at work on any part. What `work` throws
  // on another thread is thrown here, when its part is taken.
  void run(Needs needs, const std::function<void(size_t)>& work,
           const std::function<bool(size_t)>& take);
  // To be called now and then by `work`, on any thread: asks for help when it is time.
  void look();

 private:
  struct State;
  // Works on the next part; false when there is none.
  static bool work_on_next(State& state);

  Helpers* const helpers_;
  const std::shared_ptr<State> state_;
};

}  // namespace orrery::query
