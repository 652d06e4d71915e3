// GET /metrics: who may read it, and how it is made.
//
// It names databases and containers, so it is for those who have the metrics token; the vendor's
// signatures are nothing that Prometheus could make. Making it visits every open partition, so it
// is done on a thread of its own, once for all who are waiting.
//
// Threading: any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/cosmos/call.h"
#include "api/cosmos/lanes.h"
#include "api/cosmos/metrics.h"
#include "base/result.h"
#include "base/thread_annotations.h"
#include "base/worker_pool.h"
#include "cluster/engine.h"
#include "net/server.h"

namespace orrery::cosmos {

class MetricsPage {
 public:
  // `token`: empty for none, which lets everybody read.
  MetricsPage(const Metrics& metrics, const cluster::Engine& engine, const Lanes& lanes,
              std::string token);

  // Null: there is no listener yet, or it is about to end. Waits for a reader of its counters.
  void set_server(const net::Server* server);

  // On an event-loop thread: the answer may come later.
  void answer(CallPtr call);

 private:
  Status authorize(std::string_view authorization) const;
  void render_later();
  void render();

  const Metrics& metrics_;
  const cluster::Engine& engine_;
  const Lanes& lanes_;
  const std::string token_;

  Mutex server_mutex_;
  const net::Server* server_ ORRERY_GUARDED_BY(server_mutex_) = nullptr;

  Mutex waiting_mutex_;
  std::vector<CallPtr> waiting_ ORRERY_GUARDED_BY(waiting_mutex_);
  bool rendering_ ORRERY_GUARDED_BY(waiting_mutex_) = false;
  WorkerPool renderer_{"metrics", 1};  // last: its job uses the rest
};

}  // namespace orrery::cosmos
