// Views of this node's partitions, for queries that run at other nodes: the other end of
// remote_views.h.
//
// A view is kept from its opening to its closing, or until nobody has asked for kViewIdle: whoever
// opened it is gone. A view pins old data on disk, so there are kViewsMax at most.
//
// Threading: any thread. answer() blocks.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/thread_annotations.h"
#include "base/worker_pool.h"
#include "cluster/engine.h"
#include "cluster/query/remote_view_messages.h"
#include "peer/link.h"

namespace orrery::cluster {

class ViewServer final : public peer::Answerer {
 public:
  // Longer than a page of a query may take at whoever reads.
  static constexpr std::chrono::seconds kViewIdle{15};
  static constexpr size_t kViewsMax = 1024;

  // Both outlive it.
  ViewServer(Engine& engine, const Clock& clock);
  ~ViewServer() override;

  // Calls of kinds that begin with kViewsPrefix.
  void answer(std::string kind, std::string bytes, peer::Done done) override;
  size_t open_views() const;

 private:
  struct Kept;

  Result<std::string> run(const std::string& kind, std::string_view bytes);
  Result<ViewOpened> open(const OpenView& question);
  Result<std::shared_ptr<Kept>> find(uint64_t view);
  // Calls `read` with the view that the question names, alone with it.
  template <class Question, class Read>
  Result<std::string> within(std::string_view bytes, Read read);
  void drop_idle();
  void drop_idle_until_stopped();

  Engine& engine_;
  const Clock& clock_;
  mutable Mutex mutex_;
  CondVar wake_;
  bool stopping_ ORRERY_GUARDED_BY(mutex_) = false;
  // From a random number on: a view of the process before this one, at the same address, is none.
  uint64_t last_id_ ORRERY_GUARDED_BY(mutex_);
  std::map<uint64_t, std::shared_ptr<Kept>> views_ ORRERY_GUARDED_BY(mutex_);
  WorkerPool sweeper_{"views", 1};  // last: its one job uses the rest
};

}  // namespace orrery::cluster
