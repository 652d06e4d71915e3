// A pool of warm workers, bounded in number, each lent to one execution at a time. Thread-safe.
//
// A worker is started on demand, and replaced on demand after it has died. A pool that was never
// used has no processes.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/thread_annotations.h"
#include "script/worker_process.h"

namespace orrery::script {

class ScriptWorkerPool {
 public:
  // A worker on loan. It goes back when this is destroyed, unless it was discarded.
  class Loan {
   public:
    Loan(ScriptWorkerPool& pool, std::unique_ptr<WorkerProcess> worker)
        : pool_(&pool), worker_(std::move(worker)) {}
    Loan(Loan&& other) noexcept : pool_(other.pool_), worker_(std::move(other.worker_)) {
      other.pool_ = nullptr;
    }
    Loan& operator=(Loan&&) = delete;
    ~Loan();

    Channel& channel() { return worker_->channel(); }
    bool is_usable() const { return worker_ != nullptr; }
    // Ends the worker, which is dead or cannot be trusted, and says how it ended.
    std::string discard();

   private:
    ScriptWorkerPool* pool_;
    std::unique_ptr<WorkerProcess> worker_;  // null when discarded
  };

  ScriptWorkerPool(std::string program, const WorkerLimits& grant, size_t workers_max);

  // Waits for a free worker until `deadline_us` of the steady clock: then Code::overloaded.
  Result<Loan> borrow(int64_t deadline_us);
  // Workers that are there, idle or lent.
  size_t size();

 private:
  void give_back(std::unique_ptr<WorkerProcess> worker);

  const std::string program_;
  const WorkerLimits grant_;
  const size_t workers_max_;
  Mutex mutex_;
  CondVar freed_;
  std::vector<std::unique_ptr<WorkerProcess>> idle_ ORRERY_GUARDED_BY(mutex_);
  size_t lent_ ORRERY_GUARDED_BY(mutex_) = 0;
};

}  // namespace orrery::script
