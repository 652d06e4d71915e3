// Who is to serve which range, as this node knows it. A server alone serves everything.
//
// A range that the plan does not name yet, such as a child of a split, is its nearest ancestor's
// node's. A node without a plan serves nothing.
//
// Threading: any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/thread_annotations.h"
#include "cluster/routing.h"
#include "nodes/seat.h"

namespace orrery::cluster {

class ServingPlan {
 public:
  // Without a name: of a server alone.
  explicit ServingPlan(std::string node) : node_(std::move(node)) {}

  bool is_alone() const { return node_.empty(); }
  const std::string& node() const { return node_; }
  std::shared_ptr<const nodes::Plan> current() const {
    const MutexLock lock(mutex_);
    return plan_;
  }
  void set(std::shared_ptr<const nodes::Plan> plan) {
    const MutexLock lock(mutex_);
    plan_ = std::move(plan);
  }

  bool is_here(const Slot& slot) const {
    if (is_alone()) return true;
    const auto plan = current();
    const nodes::Member* owner = plan ? owner_of(*plan, slot) : nullptr;
    return owner != nullptr && owner->name == node_;
  }
  // Null: nobody is named.
  static const nodes::Member* owner_of(const nodes::Plan& plan, const Slot& slot) {
    if (const auto* named = plan.owner_of({slot.container, slot.range.id})) return named;
    const auto& parents = slot.range.parents;
    for (auto parent = parents.rbegin(); parent != parents.rend(); ++parent) {
      if (const auto* named = plan.owner_of({slot.container, *parent})) return named;
    }
    return nullptr;
  }

 private:
  const std::string node_;
  mutable Mutex mutex_;
  std::shared_ptr<const nodes::Plan> plan_ ORRERY_GUARDED_BY(mutex_);
};

}  // namespace orrery::cluster
