// See fair_queue.h.
#include "base/fair_queue.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/fault.h"
#include "base/survive.h"

namespace orrery {

FairQueue::FairQueue(Options options, const Clock& clock)
    : options_(std::move(options)),
      share_max_(options_.spare_thread && options_.threads > 1 ? options_.threads - 1
                                                               : options_.threads),
      fault_("task." + options_.name),
      clock_(clock),
      threads_(options_.name, options_.threads) {}

FairQueue::~FairQueue() {
  stop();
}

void FairQueue::submit(uint64_t share, TaskPtr task) {
  Refused refused{nullptr, Refusal::full};
  {
    MutexLock lock(mutex_);
    if (stopping_) {
      refused = {std::move(task), Refusal::stopping};
    } else {
      Share& own = shares_[share];
      if (waiting_ >= options_.waiting_max) {
        refused.task = make_room(own.waiting.size() + 1);
        if (!refused.task) refused.task = std::move(task);
      }
      if (task) {
        own.waiting.push_back({std::move(task), clock_.steady_us()});
        ++waiting_;
      } else if (own.waiting.empty() && own.running == 0) {
        shares_.erase(share);
      }
    }
  }
  if (refused.task) refuse(std::move(refused));
  engage();
}

FairQueue::TaskPtr FairQueue::make_room(size_t own) {
  const auto most = std::ranges::max_element(
      shares_, {}, [](const auto& share) { return share.second.waiting.size(); });
  if (most == shares_.end() || most->second.waiting.size() <= own) return nullptr;
  TaskPtr newest = std::move(most->second.waiting.back().task);
  most->second.waiting.pop_back();
  --waiting_;
  return newest;
}

void FairQueue::engage() noexcept {
  {
    MutexLock lock(mutex_);
    if (jobs_ >= options_.threads || jobs_ >= running_ + waiting_) return;
    ++jobs_;
  }
  survive(options_.name, [&] {
    OnEnd lost([this] {
      MutexLock lock(mutex_);
      --jobs_;
    });
    threads_.post([this, lost = std::move(lost)]() mutable {
      lost.release();
      work();
    });
  });
}

void FairQueue::work() noexcept {
  for (;;) {
    uint64_t share = 0;
    TaskPtr task;
    {
      MutexLock lock(mutex_);
      task = take(share);
      if (!task) {
        --jobs_;
        return;
      }
    }
    // Whatever it leaves behind is gone before its share gets the next thread.
    if (!task->is_wanted()) {
      refuse({std::move(task), Refusal::unwanted});
    } else {
      const bool done = survive(options_.name, [&] {
        if (auto injected = fault::point(fault_); !injected) {
          throw std::runtime_error(injected.error().message);
        }
        task->run();
      });
      if (!done) failed_.fetch_add(1, std::memory_order_relaxed);
      task.reset();
    }
    MutexLock lock(mutex_);
    finished(share);
  }
}

FairQueue::TaskPtr FairQueue::take(uint64_t& share) {
  if (waiting_ == 0) return nullptr;
  auto at = shares_.upper_bound(last_share_);
  for (size_t seen = 0; seen < shares_.size(); ++seen, ++at) {
    if (at == shares_.end()) at = shares_.begin();
    Share& candidate = at->second;
    if (candidate.waiting.empty() || candidate.running >= share_max_) continue;
    share = last_share_ = at->first;
    TaskPtr task = std::move(candidate.waiting.front().task);
    candidate.waiting.pop_front();
    ++candidate.running;
    ++running_;
    --waiting_;
    return task;
  }
  return nullptr;
}

void FairQueue::finished(uint64_t share) {
  --running_;
  const auto at = shares_.find(share);
  if (--at->second.running == 0 && at->second.waiting.empty()) shares_.erase(at);
}

void FairQueue::refuse(Refused refused) noexcept {
  (refused.why == Refusal::unwanted ? dropped_ : refused_).fetch_add(1, std::memory_order_relaxed);
  survive(options_.name, [&] { refused.task->refuse(refused.why); });
}

void FairQueue::sweep() {
  const int64_t late_us = clock_.steady_us() - options_.wait_us_max;
  std::vector<Refused> out;
  {
    MutexLock lock(mutex_);
    out.reserve(waiting_);
    for (auto at = shares_.begin(); at != shares_.end();) {
      std::deque<Waiting>& waiting = at->second.waiting;
      size_t kept = 0;
      for (size_t i = 0; i < waiting.size(); ++i) {
        const bool is_late = waiting[i].since_us <= late_us;
        if (is_late || !waiting[i].task->is_wanted()) {
          out.push_back({std::move(waiting[i].task), is_late ? Refusal::late : Refusal::unwanted});
        } else {
          std::swap(waiting[kept++], waiting[i]);
        }
      }
      waiting.resize(kept);
      at = kept == 0 && at->second.running == 0 ? shares_.erase(at) : std::next(at);
    }
    waiting_ -= out.size();
  }
  for (Refused& one : out) refuse(std::move(one));
  engage();
}

void FairQueue::stop() {
  for (;;) {
    TaskPtr task;
    {
      MutexLock lock(mutex_);
      stopping_ = true;
      task = make_room(0);
    }
    if (!task) break;
    refuse({std::move(task), Refusal::stopping});
  }
  threads_.stop();
}

FairQueue::Counts FairQueue::counts() const {
  MutexLock lock(mutex_);
  return {.waiting = waiting_,
          .running = running_,
          .refused = refused_.load(std::memory_order_relaxed),
          .dropped = dropped_.load(std::memory_order_relaxed),
          .failed = failed_.load(std::memory_order_relaxed)};
}

}  // namespace orrery
