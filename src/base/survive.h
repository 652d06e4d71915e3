// Where a thread goes on whatever the work it was given does. An exception that gets here (memory
// ran out, a thread could not be made) ends that piece of work and not the process.
//
// What the work held is destroyed on the way, and that is how its callers hear of it: an object
// that owes somebody an answer gives one when it is destroyed without having done so.
#pragma once

#include <chrono>
#include <exception>
#include <string_view>
#include <thread>
#include <utility>

namespace orrery {

// Logs it, if there is memory for that.
void note_exception(std::string_view doing, std::string_view what) noexcept;

// Whether the work came to its end.
template <class Work>
bool survive(std::string_view doing, Work&& work) noexcept {
  try {
    std::forward<Work>(work)();
    return true;
  } catch (const std::exception& error) {
    note_exception(doing, error.what());
  } catch (...) {
    note_exception(doing, "an exception of no known type");
  }
  return false;
}

// For what has to follow something durable: tried again until there is memory for it. Doing a part
// of it twice must do no harm.
template <class Work>
void persist(std::string_view doing, const Work& work) noexcept {
  while (!survive(doing, work)) std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

// Does something when it ends, unless it was released or moved: for a job that must leave a trace
// of its failure, however it fails.
template <class Work>
class OnEnd {
 public:
  explicit OnEnd(Work work) : work_(std::move(work)) {}
  OnEnd(OnEnd&& other) noexcept
      : work_(std::move(other.work_)), armed_(std::exchange(other.armed_, false)) {}
  OnEnd& operator=(OnEnd&&) = delete;
  ~OnEnd() {
    if (armed_) work_();
  }
  void release() { armed_ = false; }

 private:
  Work work_;
  bool armed_ = true;
};

}  // namespace orrery
