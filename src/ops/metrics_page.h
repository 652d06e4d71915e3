// GET /metrics: who may read it, and how it is made.
//
// The page names databases and containers, so it needs the metrics token. (Prometheus cannot sign
// requests.) The operator protects a port of its own by other means, so that one needs no token.
// Making the page visits every open partition, so it is made on a thread of its own, once for all
// requests that wait.
//
// Threading: any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/thread_annotations.h"
#include "base/worker_pool.h"
#include "cluster/engine.h"
#include "face/face.h"
#include "face/lanes.h"
#include "face/request_metrics.h"
#include "net/server.h"
#include "ops/page_request.h"

namespace orrery::nodes {
class Node;
}

namespace orrery::ops {

class MetricsPage {
 public:
  struct Sources {
    const cluster::Engine& engine;
    const face::Lanes& lanes;
    const face::Forwarder* forwarder = nullptr;  // null in a server alone
    const face::RequestMetrics& own;             // of the pages that belong to no face
    std::vector<const face::Face*> faces;
    std::string token;  // empty for none, which lets everybody read
  };
  explicit MetricsPage(Sources sources) : sources_(std::move(sources)) {}

  // Null: the server has not started, or is stopping. Waits while its counters are being read.
  void set_server(const net::Server* server);
  // Of a server among others; null: it is alone, or is stopping.
  void set_node(const nodes::Node* node);

  // On an event-loop thread: the answer may come later.
  void answer(PageRequestPtr call, bool is_own_port);

 private:
  Status authorize(std::string_view authorization) const;
  void render_later();
  void render();

  std::string text();

  const Sources sources_;

  Mutex server_mutex_;
  const net::Server* server_ ORRERY_GUARDED_BY(server_mutex_) = nullptr;
  const nodes::Node* node_ ORRERY_GUARDED_BY(server_mutex_) = nullptr;

  Mutex waiting_mutex_;
  std::vector<PageRequestPtr> waiting_ ORRERY_GUARDED_BY(waiting_mutex_);
  bool rendering_ ORRERY_GUARDED_BY(waiting_mutex_) = false;
  WorkerPool renderer_{"metrics", 1};  // last: its job uses the rest
};

}  // namespace orrery::ops
