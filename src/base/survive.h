// Keeps a thread alive when its work throws. An exception that gets here (out of memory, no thread
// could be made) ends that piece of work and not the process.
//
// Unwinding destroys what the work held, and that is how its callers learn of the failure: an
// object that owes somebody an answer gives one in its destructor if it has not done so before.
#pragma once

#include <chrono>
#include <exception>
#include <string_view>
#include <thread>
#include <utility>

namespace orrery {

// Logs it, if there is memory for that.
void note_exception(std::string_view doing, std::string_view what) noexcept;

// Runs the work. False when it threw.
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

// For work that must follow something durable: retried until there is memory for it. The work must
// be idempotent.
template <class Work>
void persist(std::string_view doing, const Work& work) noexcept {
  while (!survive(doing, work)) std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

// A scope guard: runs the work when it is destroyed, unless it was released or moved from. For a
// job that must report its failure, whichever way it fails.
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
