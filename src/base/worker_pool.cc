// See worker_pool.h.
#include "base/worker_pool.h"

#include <pthread.h>

namespace orrery {

WorkerPool::WorkerPool(std::string name, size_t threads) : name_(std::move(name)) {
  threads_.reserve(threads);
  for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this, i] { work(i); });
}

WorkerPool::~WorkerPool() {
  stop();
}

void WorkerPool::post(Job job) {
  {
    MutexLock lock(mutex_);
    if (!stopping_) {
      jobs_.push_back(std::move(job));
      wake_.notify_one();
      return;
    }
  }
  job();
}

void WorkerPool::stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    wake_.notify_all();
  }
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void WorkerPool::work(size_t index) {
  // The kernel keeps 15 characters of a thread's name.
  pthread_setname_np(pthread_self(), (name_ + std::to_string(index)).substr(0, 15).c_str());
  for (;;) {
    Job job;
    {
      MutexLock lock(mutex_);
      while (jobs_.empty()) {
        if (stopping_) return;
        wake_.wait(mutex_);
      }
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    job();
  }
}

}  // namespace orrery
