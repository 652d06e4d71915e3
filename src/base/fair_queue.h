// A bounded queue of request tasks in front of a thread pool, with fair scheduling.
//
// Every task belongs to a share (a container, say). Shares are served round-robin, so a busy share
// delays only itself. With `spare_thread` and several threads, no share can occupy all of them.
// When the queue is full, the share with the most queued tasks loses its newest one, which is
// refused. sweep(), which is to be called periodically, refuses tasks that have waited too long and
// drops those that nobody waits for any more.
//
// Every task is run or refused, once; one that throws is destroyed, which must answer whoever waits
// for it (see survive.h). Fault point "task.NAME", before each task.
//
// Threading: any thread. Tasks run on the pool's threads, and are refused on those or in the
// caller of submit(), sweep() or stop().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/thread_annotations.h"
#include "base/worker_pool.h"

namespace orrery {

class FairQueue {
 public:
  enum class Refusal : uint8_t {
    full,      // the queue is
    late,      // it has waited as long as it may
    unwanted,  // nobody waits for it
    stopping,
  };

  class Task {
   public:
    virtual ~Task() = default;
    virtual void run() = 0;
    virtual void refuse(Refusal why) = 0;
    // Asked while it waits, from any thread.
    virtual bool is_wanted() const = 0;
  };
  using TaskPtr = std::unique_ptr<Task>;

  struct Options {
    std::string name;
    size_t threads = 1;
    size_t waiting_max = 0;
    int64_t wait_us_max = 0;
    bool spare_thread = false;  // of several, one share has at most all but one
  };
  FairQueue(Options options, const Clock& clock);
  ~FairQueue();

  void submit(uint64_t share, TaskPtr task);
  void sweep();
  // Refuses what waits, and all that comes; waits for what runs.
  void stop();

  struct Counts {
    uint64_t waiting = 0;
    uint64_t running = 0;
    uint64_t refused = 0;  // full or late, since the start
    uint64_t dropped = 0;  // unwanted, since the start
    uint64_t failed = 0;   // by an exception, since the start
  };
  Counts counts() const;
  const std::string& name() const { return options_.name; }

 private:
  struct Waiting {
    TaskPtr task;
    int64_t since_us = 0;
  };
  struct Share {
    std::deque<Waiting> waiting;
    size_t running = 0;
  };
  struct Refused {
    TaskPtr task;
    Refusal why;
  };
  using Shares = std::map<uint64_t, Share>;

  // Takes tasks until none may run: the job of one thread.
  void work() noexcept;
  TaskPtr take(uint64_t& share) ORRERY_REQUIRES(mutex_);
  void finished(uint64_t share) ORRERY_REQUIRES(mutex_);
  // Posts a job when there is a thread for it. Jobs that were lost are made up for by the next one.
  void engage() noexcept;
  // The newest task of the share that has most waiting, if that is more than `own`.
  TaskPtr make_room(size_t own) ORRERY_REQUIRES(mutex_);
  void refuse(Refused refused) noexcept;

  const Options options_;
  const size_t share_max_;  // running at once
  const std::string fault_;
  const Clock& clock_;
  std::atomic<uint64_t> refused_{0};
  std::atomic<uint64_t> dropped_{0};
  std::atomic<uint64_t> failed_{0};
  mutable Mutex mutex_;
  Shares shares_ ORRERY_GUARDED_BY(mutex_);            // those with tasks
  uint64_t last_share_ ORRERY_GUARDED_BY(mutex_) = 0;  // whose turn it was
  size_t waiting_ ORRERY_GUARDED_BY(mutex_) = 0;
  size_t running_ ORRERY_GUARDED_BY(mutex_) = 0;
  size_t jobs_ ORRERY_GUARDED_BY(mutex_) = 0;  // posted or at work
  bool stopping_ ORRERY_GUARDED_BY(mutex_) = false;
  WorkerPool threads_;  // last: its jobs use the rest
};

}  // namespace orrery
