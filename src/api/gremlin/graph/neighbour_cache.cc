// See neighbour_cache.h.
#include "api/gremlin/graph/neighbour_cache.h"

#include <algorithm>

namespace orrery::gremlin {

std::optional<NeighbourCache::Moment> NeighbourCache::catch_up(const cluster::RoutingPtr& routing,
                                                               const std::string& key_name) {
  const bool is_followed = !routing->schema->default_life_ms &&
                           std::ranges::all_of(routing->slots, [](const auto& slot) {
                             return slot->here && !slot->gone;
                           });
  if (!is_followed) {
    clear();
    return std::nullopt;
  }
  std::shared_ptr<KnownGraph> before;
  Moment moment;
  {
    const MutexLock lock(mutex_);
    if (!graph_ || graph_->is_retired() || !graph_->is_of(*routing)) {
      before =
          std::exchange(graph_, std::make_shared<KnownGraph>(used_, bytes_max_, routing, key_name));
    }
    moment.graph = graph_;
  }
  if (before) before->retire();
  moment.number = moment.graph->catch_up();
  return moment;
}

void NeighbourCache::clear() {
  std::shared_ptr<KnownGraph> before;
  {
    const MutexLock lock(mutex_);
    before = std::exchange(graph_, nullptr);
  }
  if (before) before->retire();
}

std::shared_ptr<NeighbourCache> NeighbourCaches::of(uint32_t container) {
  if (bytes_max_ == 0) return nullptr;
  MutexLock lock(mutex_);
  const auto found =
      std::ranges::find(caches_, container, [](const auto& one) { return one.first; });
  if (found == caches_.end()) {
    caches_.emplace_back(container, std::make_shared<NeighbourCache>(used_, bytes_max_));
  } else {
    std::rotate(found, found + 1, caches_.end());
  }
  while (caches_.size() > 1 && (caches_.size() > kGraphsMax || used_ > bytes_max_)) {
    caches_.front().second->clear();
    caches_.erase(caches_.begin());
  }
  return caches_.back().second;
}

}  // namespace orrery::gremlin
