// Whether other nodes can be reached at all. A question that is not answered says little: whoever
// should answer may be waiting for the store. A probe is answered by the threads that take calls,
// and by nothing else.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/thread_annotations.h"
#include "nodes/seat.h"
#include "nodes/times.h"
#include "peer/link.h"
#include "volume/objects/lease.h"

namespace orrery::nodes {

class Probes {
 public:
  Probes(peer::Link& link, volume::BootClock clock, NodeTimes times)
      : link_(link), clock_(std::move(clock)), times_(times) {}

  // Sends a probe, unless one is on its way.
  void send(const Member& to);
  // None was answered for unreachable_us, and kFailuresLeast of them were sent in that time.
  bool is_unreachable(const std::string& incarnation) const;
  // One was answered that was sent at that time, by the clock, or later.
  bool has_answered_since(const std::string& incarnation, int64_t since_us) const;
  // Forgets what is known of all others: they were heard of in another way, or are gone.
  void keep_only(const std::vector<Member>& members);

 private:
  static constexpr uint32_t kFailuresLeast = 3;
  static constexpr std::chrono::milliseconds kDeadline{300};
  struct Probe {
    bool is_sent = false;
    uint32_t failures = 0;  // one after another
    int64_t first_failed_us = 0;
    int64_t answered_us = INT64_MIN;  // when the newest that was answered was sent
  };
  // Outlives this, for answers that come late.
  struct Shared {
    Mutex mutex;
    std::map<std::string, Probe> probes ORRERY_GUARDED_BY(mutex);
  };

  peer::Link& link_;
  const volume::BootClock clock_;
  const NodeTimes times_;
  const std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

}  // namespace orrery::nodes
