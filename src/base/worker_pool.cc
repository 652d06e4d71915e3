// See worker_pool.h.
#include "base/worker_pool.h"

#include <fmt/format.h>
#include <pthread.h>

#include <stdexcept>
#include <system_error>

#include "base/fault.h"
#include "base/survive.h"

namespace orrery {

WorkerPool::WorkerPool(std::string name, size_t threads)
    : name_(std::move(name)), fault_("pool." + name_) {
  threads_.reserve(threads);
  try {
    for (size_t i = 0; i < threads; ++i) {
      if (auto injected = fault::point("thread"); !injected) {
        throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
      }
      threads_.emplace_back([this, i] { work(i); });
    }
  } catch (const std::system_error& error) {
    // Those that were made are waiting for jobs: they must end before what they use does.
    stop();
    throw std::system_error(
        error.code(), fmt::format("the system gives no thread for '{}', which needs {}: raise the "
                                  "limit of processes and threads (ulimit -u, or the service's "
                                  "TasksMax)",
                                  name_, threads));
  }
}

WorkerPool::~WorkerPool() {
  stop();
}

void WorkerPool::post(Job job) noexcept {
  post(std::move(job), true);
}

void WorkerPool::post_at_end(Job job) noexcept {
  post(std::move(job), false);
}

void WorkerPool::post(Job job, bool wakes) noexcept {
  bool inline_here = false;
  const bool queued = survive(name_, [&] {
    MutexLock lock(mutex_);
    inline_here = stopping_;
    if (stopping_) return;
    jobs_.push_back(std::move(job));
    if (wakes) wake_.notify_one();
  });
  if (!queued) failed_.fetch_add(1, std::memory_order_relaxed);
  if (inline_here) run(std::move(job));
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

void WorkerPool::run(Job job) noexcept {
  const bool done = survive(name_, [&] {
    if (auto injected = fault::point(fault_); !injected) {
      throw std::runtime_error(injected.error().message);
    }
    job();
  });
  if (!done) failed_.fetch_add(1, std::memory_order_relaxed);
}

void WorkerPool::work(size_t index) {
  // The kernel keeps 15 characters of a thread's name.
  survive(name_, [&] {
    pthread_setname_np(pthread_self(), (name_ + std::to_string(index)).substr(0, 15).c_str());
  });
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
    run(std::move(job));
  }
}

}  // namespace orrery
