// What the layers above ask about the read replicas of a node.
//
// Threading: any thread; nothing blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "cluster/replies.h"
#include "cluster/routing.h"

namespace orrery::cluster {

// Bounded staleness: for how long, and by how many commits, a replica may be behind.
inline constexpr int64_t kBoundedUs = 5'000'000;
inline constexpr uint64_t kBoundedLsns = 100;

struct ReplicaSettings {
  int64_t staleness_max_us = 5'000'000;  // a replica that is staler answers nobody
  std::function<bool()> is_held = {};    // for tests: whether none catches up now
};

struct ReplicaStatus {
  uint32_t container = 0;
  uint32_t range = 0;
  uint64_t lsn = 0;
  uint64_t lsns_behind = 0;   // of the owner, as it was last asked
  int64_t staleness_us = -1;  // below 0: never known to be fresh
  uint64_t reads = 0;
};

class ReplicaReader {
 public:
  virtual ~ReplicaReader() = default;
  // Before the first plan. Without it there are none.
  virtual void set(ReplicaSettings settings) = 0;
  // Whether this node has a replica of another's slot that may answer this demand.
  virtual bool has_replica(const Slot& slot, const LsnDemand& demand) const = 0;
  virtual void each(const std::function<void(const ReplicaStatus&)>& visit) const = 0;
};

}  // namespace orrery::cluster
