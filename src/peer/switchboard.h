// Brings calls of other nodes to those who answer them, by how their kinds begin. A node listens
// before it has an engine, since the engine needs others to start: until somebody is there to
// answer, calls are refused with Code::overloaded, as not run.
//
// Threading: any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/thread_annotations.h"
#include "peer/forward.h"
#include "peer/link.h"

namespace orrery::peer {

class Switchboard final : public Answerer, public ForwardReceiver {
 public:
  // For calls whose kind begins so. It outlives the switchboard, or is taken out before it goes.
  void add(std::string prefix, Answerer& answerer);
  // For requests of clients.
  void set_receiver(ForwardReceiver& receiver);
  // Refuses requests of clients from here on, and waits until those that were taken are answered.
  // They need the event loops, so this comes before those end. False: some are not, by then.
  bool finish_receiving(std::chrono::milliseconds patience);
  // Refuses everything from here on; whoever is being asked now may still be.
  void clear();

  void answer(std::string kind, std::string bytes, Done done) override;
  void receive(IncomingRequest request, ForwardDone done) override;

 private:
  mutable Mutex mutex_;
  std::vector<std::pair<std::string, Answerer*>> answerers_ ORRERY_GUARDED_BY(mutex_);
  ForwardReceiver* receiver_ ORRERY_GUARDED_BY(mutex_) = nullptr;
  CondVar answered_;
  uint64_t receiving_ ORRERY_GUARDED_BY(mutex_) = 0;  // taken, and not answered yet
};

}  // namespace orrery::peer
