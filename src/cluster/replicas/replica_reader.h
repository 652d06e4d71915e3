// What the layers above ask about the read replicas of a node, and how a reader says that one may
// answer it.
//
// Threading: any thread; nothing blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "cluster/placement.h"
#include "cluster/replies.h"
#include "cluster/routing.h"

namespace orrery::cluster {

// Bounded staleness: for how long, and by how many commits, a replica may be behind.
inline constexpr int64_t kBoundedUs = 5'000'000;
inline constexpr uint64_t kBoundedLsns = 100;

// Who may answer a reader.
enum class Freshness : uint8_t {
  newest,   // the partition's owner
  bounded,  // also a replica that is behind by little: kBoundedUs and kBoundedLsns
  any,      // also every replica that is not staler than replicas may be
};

// The demand of a reader whom a replica may answer. Every other demand is for the newest.
class ReaderDemand {
 public:
  ReaderDemand(LsnDemand needed, Freshness freshness)
      : needed_(std::move(needed)), freshness_(freshness) {}
  std::optional<uint64_t> operator()(const catalog::PartitionRange& range) const {
    return needed_ ? needed_(range) : std::nullopt;
  }
  static Freshness freshness_of(const LsnDemand& demand) {
    const auto* reader = demand.target<ReaderDemand>();
    return reader == nullptr ? Freshness::newest : reader->freshness_;
  }

 private:
  LsnDemand needed_;
  Freshness freshness_;
};

struct ReplicaSettings {
  uint32_t replicas = 0;                 // of each range; the same at all nodes
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
  // Before the first plan.
  virtual void set_replicas(ReplicaSettings settings) = 0;
  // Whether this node has a replica of another's slot that may answer this demand.
  virtual bool has_replica(const Slot& slot, const LsnDemand& demand) const = 0;
  virtual void each_replica(const std::function<void(const ReplicaStatus&)>& visit) const = 0;
};

// Of the engine of a node; null: there are none.
inline ReplicaReader* replicas_of(Placement* placement) {
  return dynamic_cast<ReplicaReader*>(placement);
}
inline const ReplicaReader* replicas_of(const Placement* placement) {
  return dynamic_cast<const ReplicaReader*>(placement);
}

}  // namespace orrery::cluster
