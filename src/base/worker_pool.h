// A fixed number of threads that run jobs in the order in which they came.
//
// The queue is not bounded here: every user of a pool bounds what it posts (a partition posts one
// job at a time; maintenance posts one per partition).
#pragma once

#include <cstddef>
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

  WorkerPool(std::string name, size_t threads);
  ~WorkerPool();  // runs what was posted, then ends

  void post(Job job);
  // Runs what was posted and joins. Posting afterwards runs the job in the caller.
  void stop();

 private:
  void work(size_t index);

  const std::string name_;
  Mutex mutex_;
  CondVar wake_;
  std::deque<Job> jobs_ ORRERY_GUARDED_BY(mutex_);
  bool stopping_ ORRERY_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace orrery
