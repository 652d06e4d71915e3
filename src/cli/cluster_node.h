// A server that is one node of a cluster, put together: its calls to others and theirs to it, its
// coordination, and the forwarding of requests. Of a server alone it does nothing.
//
// The order of a start: open() before the engine, which calls others; join() with the engine and
// before the faces, which forward; serve() with the faces. Then wait_until_ready(). Of an end:
// leave(), while everything still serves; then, with no request left, stop(), before the engine
// goes.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cli/node_options.h"
#include "cluster/engine.h"
#include "cluster/query/view_server.h"
#include "face/face.h"
#include "face/forward.h"
#include "nodes/node_thread.h"
#include "peer/node.h"
#include "peer/switchboard.h"
#include "volume/objects/lease.h"
#include "volume/objects/object_store.h"

namespace orrery::cli {

class ClusterNode {
 public:
  // Without a name in the options it is that of a server alone.
  static Result<std::unique_ptr<ClusterNode>> open(const NodeOptions& options);
  ~ClusterNode();
  ClusterNode(const ClusterNode&) = delete;
  ClusterNode& operator=(const ClusterNode&) = delete;

  // Null of a server alone.
  peer::Link* link() { return peers_.get(); }
  face::Forwarder* forwarder() { return forwarder_.get(); }
  nodes::Node* node() { return coordination_ ? &coordination_->node() : nullptr; }

  void join(cluster::Engine& engine, const Clock& clock, volume::ObjectStore& store,
            std::shared_ptr<volume::Lease> lease);
  void serve(const std::vector<face::Face*>& faces);
  // Who answers calls of other nodes whose kind begins so, until stop().
  void answer_with(std::string_view prefix, peer::Answerer& answerer);
  // Waits until the node knows the catalog. False: `stop` said so before.
  bool wait_until_ready(const std::function<bool()>& stop);

  // Has others take what this node serves, so that no request fails when it stops, and answers what
  // it took from them. Gives up after `patience`: they take it then as that of a dead node.
  void leave(std::chrono::seconds patience);
  void stop();

 private:
  // What engines ask one another.
  class EngineCalls;

  explicit ClusterNode(NodeOptions options);
  void give_away(std::chrono::steady_clock::time_point until);
  Status wait_until_all_have(uint64_t lsn) const;

  const NodeOptions options_;
  peer::Switchboard switchboard_;
  std::unique_ptr<peer::Node> peers_;
  std::shared_ptr<volume::Lease> lease_;
  std::unique_ptr<EngineCalls> engine_calls_;
  std::unique_ptr<cluster::ViewServer> views_;
  std::unique_ptr<face::Forwarder> forwarder_;
  std::atomic<nodes::Node*> ticking_{nullptr};  // once it is there
  std::unique_ptr<nodes::NodeThread> coordination_;
};

}  // namespace orrery::cli
