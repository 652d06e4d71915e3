// Says to all parts of an engine that it is being closed: begin nothing new, and end soon.
//
// Threading: any thread.
#pragma once

#include <atomic>

namespace orrery::cluster {

class StopSignal {
 public:
  void set() { set_.store(true); }
  bool is_set() const { return set_.load(); }

 private:
  std::atomic<bool> set_{false};
};

}  // namespace orrery::cluster
