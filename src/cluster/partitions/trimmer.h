// Trims partitions after a split: what belongs to the other half is removed from the files. A
// partition that needs no trimming is done at once, so whoever opened one just asks.
//
// Threading: trim_later() from any thread. One thread of its own trims one partition at a time.
#pragma once

#include <memory>

#include "base/worker_pool.h"
#include "cluster/routing.h"
#include "cluster/stop_signal.h"

namespace orrery::cluster {

class Trimmer {
 public:
  explicit Trimmer(const StopSignal& stop) : stop_(stop), pool_("trimmer", 1) {}

  void trim_later(const std::shared_ptr<Slot>& slot);
  // Leaves what has not begun to the next time that the partition is opened.
  void stop() { pool_.stop(); }
  const WorkerPool& pool() const { return pool_; }

 private:
  const StopSignal& stop_;
  WorkerPool pool_;
};

}  // namespace orrery::cluster
