// See node_thread.h.
#include "nodes/node_thread.h"

#include <chrono>

#include "base/survive.h"

namespace orrery::nodes {

NodeThread::NodeThread(volume::ObjectStore& store, volume::Lease& lease, peer::Link& link,
                       Seat& seat, NodeTimes times)
    : times_(times),
      node_(store, lease, link, seat, times, [this] { wake(); }),
      thread_([this] { run(); }) {}

NodeThread::~NodeThread() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  woken_.notify_all();
  thread_.join();
}

void NodeThread::wake() {
  {
    MutexLock lock(mutex_);
    is_woken_ = true;
  }
  woken_.notify_all();
}

void NodeThread::run() {
  for (;;) {
    {
      MutexLock lock(mutex_);
      if (!stopping_ && !is_woken_) {
        woken_.wait_for(mutex_, std::chrono::microseconds(times_.tick_us));
      }
      if (stopping_) return;
      is_woken_ = false;
    }
    survive("tick of a node", [this] { node_.tick(); });
  }
}

}  // namespace orrery::nodes
