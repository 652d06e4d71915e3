// See neighbour_cache.h.
#include "api/gremlin/graph/neighbour_cache.h"

#include <algorithm>

namespace orrery::gremlin {

bool NeighbourCache::is_followed(const cluster::Routing& routing) {
  return !routing.schema->default_life_ms &&
         std::ranges::all_of(routing.slots,
                             [](const auto& slot) { return slot->here && !slot->gone; });
}

std::optional<NeighbourCache::Moment> NeighbourCache::try_catch_up(
    const cluster::RoutingPtr& routing) {
  if (!is_followed(*routing)) return std::nullopt;
  const auto graph = this->graph();
  if (!graph || graph->is_retired() || !graph->is_of(*routing)) return std::nullopt;
  const auto number = graph->try_catch_up();
  if (!number) return std::nullopt;
  return Moment{graph, *number};
}

std::optional<NeighbourCache::Moment> NeighbourCache::catch_up(const cluster::RoutingPtr& routing,
                                                               const std::string& key_name) {
  if (!is_followed(*routing)) {
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
