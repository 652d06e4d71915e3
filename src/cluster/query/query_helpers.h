// The threads that help queries over several partitions (query/run/part_run.h): a fixed number for
// the whole node, whatever the number of queries. A query posts no more jobs than there are
// threads, and does not wait for one that has not begun.
//
// Threading: any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>

#include "base/worker_pool.h"
#include "query/run/part_run.h"

namespace orrery::cluster {

class QueryHelpers final : public query::Helpers {
 public:
  explicit QueryHelpers(size_t threads) : threads_(threads), pool_("helpers", threads) {}

  size_t threads() const override { return threads_; }
  void post(std::move_only_function<void()> job) noexcept override { pool_.post(std::move(job)); }

 private:
  const size_t threads_;
  WorkerPool pool_;
};

}  // namespace orrery::cluster
