// A fixed number of threads that run jobs in the order in which they came.
//
// The queue is not bounded here: every user of a pool bounds what it posts (a partition posts one
// job at a time; maintenance posts one per partition). Work that requests ask for goes through a
// FairQueue.
//
// A job that throws, or that cannot be queued for want of memory, is destroyed, logged and counted:
// whatever it holds must answer its callers from its destructor (see survive.h). Fault point
// "pool.NAME", before each job.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/thread_annotations.h"

namespace orrery {

class WorkerPool {
 public:
  using Job = std::move_only_function<void()>;

  // Throws std::system_error, naming the pool, when the system gives it no thread.
  WorkerPool(std::string name, size_t threads);
  ~WorkerPool();  // runs what was posted, then ends

  void post(Job job) noexcept;
  // The same, as the last act of a job of this pool: its thread is about to take one, so that no
  // other has to be woken.
  void post_at_end(Job job) noexcept;
  // Runs what was posted and joins. Posting afterwards runs the job in the caller.
  void stop();

  const std::string& name() const { return name_; }
  uint64_t failed() const { return failed_.load(std::memory_order_relaxed); }

 private:
  void post(Job job, bool wakes) noexcept;
  void work(size_t index);
  void run(Job job) noexcept;

  const std::string name_;
  const std::string fault_;
  std::atomic<uint64_t> failed_{0};
  Mutex mutex_;
  CondVar wake_;
  std::deque<Job> jobs_ ORRERY_GUARDED_BY(mutex_);
  bool stopping_ ORRERY_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace orrery
