// The thread that ticks a node: each tick_us, and at once when the node has something to read.
#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "base/thread_annotations.h"
#include "nodes/node.h"

namespace orrery::nodes {

class NodeThread {
 public:
  // All outlive it.
  NodeThread(volume::ObjectStore& store, volume::Lease& lease, peer::Link& link, Seat& seat,
             NodeTimes times = {});
  // The thread ends first. The catalog stays claimed: whoever stops a node releases everything.
  ~NodeThread();
  NodeThread(const NodeThread&) = delete;
  NodeThread& operator=(const NodeThread&) = delete;

  Node& node() { return node_; }

 private:
  void run();
  void wake();

  const NodeTimes times_;
  Mutex mutex_;
  CondVar woken_;
  bool is_woken_ ORRERY_GUARDED_BY(mutex_) = false;
  bool stopping_ ORRERY_GUARDED_BY(mutex_) = false;
  Node node_;
  std::thread thread_;
};

}  // namespace orrery::nodes
