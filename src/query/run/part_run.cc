// See part_run.h.
#include "query/run/part_run.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>
#include <vector>

#include "base/thread_annotations.h"

namespace orrery::query {
namespace {

// Parts that are begun before it is known whether they are needed. Each may keep a page of rows.
constexpr size_t kAheadMax = 16;

int64_t now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

// Outlives the run in jobs that have not begun yet. Those find it closed.
struct PartRun::State {
  explicit State(size_t parts) : count(parts), done(parts), thrown(parts) {}

  const size_t count;
  const int64_t started_us = now_us();
  // Set while run() is at work; called without the lock.
  const std::function<void(size_t)>* work = nullptr;

  Mutex mutex;
  CondVar changed;
  bool is_closed ORRERY_GUARDED_BY(mutex) = false;
  size_t next ORRERY_GUARDED_BY(mutex) = 0;
  size_t end ORRERY_GUARDED_BY(mutex) = 0;      // parts up to here may be begun
  size_t helping ORRERY_GUARDED_BY(mutex) = 0;  // threads that were asked and have not gone
  size_t running ORRERY_GUARDED_BY(mutex) = 0;
  std::vector<bool> done ORRERY_GUARDED_BY(mutex);
  std::vector<std::exception_ptr> thrown ORRERY_GUARDED_BY(mutex);
};

PartRun::PartRun(Helpers* helpers, size_t parts)
    : helpers_(helpers), state_(std::make_shared<State>(parts)) {}

PartRun::~PartRun() = default;

bool PartRun::work_on_next(State& state) {
  size_t part = 0;
  {
    MutexLock lock(state.mutex);
    if (state.is_closed || state.next >= state.end) return false;
    part = state.next++;
    ++state.running;
  }
  std::exception_ptr thrown;
  try {
    (*state.work)(part);
  } catch (...) {
    thrown = std::current_exception();
  }
  MutexLock lock(state.mutex);
  --state.running;
  state.done[part] = true;
  state.thrown[part] = std::move(thrown);
  state.changed.notify_all();
  return true;
}

void PartRun::look() {
  if (helpers_ == nullptr || now_us() - state_->started_us < helpers_->alone_us()) return;
  size_t asked = 0;
  {
    MutexLock lock(state_->mutex);
    if (state_->is_closed) return;
    asked = std::min(state_->end - state_->next, helpers_->threads() - state_->helping);
    state_->helping += asked;
  }
  for (; asked > 0; --asked) {
    helpers_->post([state = state_] {
      while (work_on_next(*state)) {
      }
      MutexLock lock(state->mutex);
      --state->helping;
    });
  }
}

void PartRun::run(Needs needs, const std::function<void(size_t)>& work,
                  const std::function<bool(size_t)>& take) {
  State& state = *state_;
  state.work = &work;
  size_t taken = 0;
  size_t ahead = needs == Needs::all_parts ? state.count : 1;
  const auto allow = [&] {
    MutexLock lock(state.mutex);
    state.end = std::min(state.count, taken + ahead);
  };
  // Takes what is done. False when no more is wanted.
  const auto take_done = [&] {
    while (taken < state.count) {
      {
        MutexLock lock(state.mutex);
        if (!state.done[taken]) return true;
        if (state.thrown[taken]) std::rethrow_exception(state.thrown[taken]);
      }
      if (!take(taken++)) return false;
      if (needs == Needs::first_parts) ahead = std::min(ahead * 2, kAheadMax);
      allow();
    }
    return false;
  };
  const auto close = [&] {
    MutexLock lock(state.mutex);
    state.is_closed = true;
    while (state.running > 0) state.changed.wait(state.mutex);
  };
  try {
    allow();
    for (bool is_wanted = true; is_wanted; is_wanted = take_done()) {
      if (!work_on_next(state)) {
        MutexLock lock(state.mutex);
        while (!state.done[taken]) state.changed.wait(state.mutex);
      }
      look();
    }
  } catch (...) {
    close();
    throw;
  }
  close();
}

}  // namespace orrery::query
