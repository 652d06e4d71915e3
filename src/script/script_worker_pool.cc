// Lending workers.
#include "script/script_worker_pool.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "base/clock.h"

namespace orrery::script {

ScriptWorkerPool::ScriptWorkerPool(std::string program, const WorkerLimits& grant,
                                   size_t workers_max)
    : program_(std::move(program)), grant_(grant), workers_max_(workers_max) {}

Result<ScriptWorkerPool::Loan> ScriptWorkerPool::borrow(int64_t deadline_us) {
  {
    MutexLock lock(mutex_);
    while (lent_ >= workers_max_) {
      const int64_t left_us = deadline_us - RealClock().steady_us();
      if (left_us <= 0) {
        return fail(Code::overloaded,
                    fmt::format("all {} script workers are busy; try again, or raise the limit "
                                "script-workers",
                                workers_max_));
      }
      freed_.wait_for(mutex_, std::chrono::microseconds(left_us));
    }
    lent_++;
    while (!idle_.empty()) {
      auto worker = std::move(idle_.back());
      idle_.pop_back();
      // One that has died in the meantime is replaced.
      if (worker->is_idle()) return Loan(*this, std::move(worker));
    }
  }
  auto started = WorkerProcess::start(program_, grant_);
  if (!started) {
    give_back(nullptr);
    return pass(started.error());
  }
  return Loan(*this, std::move(*started));
}

void ScriptWorkerPool::give_back(std::unique_ptr<WorkerProcess> worker) {
  MutexLock lock(mutex_);
  lent_--;
  if (worker) idle_.push_back(std::move(worker));
  freed_.notify_one();
}

size_t ScriptWorkerPool::size() {
  MutexLock lock(mutex_);
  return idle_.size() + lent_;
}

ScriptWorkerPool::Loan::~Loan() {
  if (pool_ != nullptr) pool_->give_back(std::move(worker_));
}

std::string ScriptWorkerPool::Loan::discard() {
  std::string how = worker_->end();
  worker_.reset();
  return how;
}

}  // namespace orrery::script
