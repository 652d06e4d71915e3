// What the traversals of a server know of its graphs from one to the next (known_graph.h), within
// one bound of memory.
//
// Where items expire, nothing is kept: no LSN tells of that. Nor where partitions are at other
// nodes.
//
// Threading: any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/gremlin/graph/known_graph.h"
#include "base/thread_annotations.h"
#include "cluster/routing.h"

namespace orrery::gremlin {

// Of one container.
class NeighbourCache {
 public:
  // What a traversal begins with.
  struct Moment {
    std::shared_ptr<KnownGraph> graph;
    uint64_t number = 0;  // of the graph
  };

  // `used`: the bytes of all caches of the server, of which there may be `bytes_max`.
  NeighbourCache(std::atomic<size_t>& used, size_t bytes_max)
      : used_(used), bytes_max_(bytes_max) {}

  // What is known, without what is out of date. Nothing: it cannot be used. `key_name`: the
  // property that is the partition key. Reads what has changed.
  std::optional<Moment> catch_up(const cluster::RoutingPtr& routing, const std::string& key_name);
  // The same without reading or waiting. Nothing: not this way.
  std::optional<Moment> try_catch_up(const cluster::RoutingPtr& routing);
  // What is known, as it is; null: nothing.
  std::shared_ptr<KnownGraph> graph() {
    const MutexLock lock(mutex_);
    return graph_;
  }
  void clear();

 private:
  // Whether changes of this container can be followed.
  static bool is_followed(const cluster::Routing& routing);

  std::atomic<size_t>& used_;
  const size_t bytes_max_;
  Mutex mutex_;
  std::shared_ptr<KnownGraph> graph_ ORRERY_GUARDED_BY(mutex_);
};

// Those of a server's graphs, least recently used first.
class NeighbourCaches {
 public:
  // 0: there are none.
  explicit NeighbourCaches(size_t bytes_max) : bytes_max_(bytes_max) {}
  // Of a container; null when there are none.
  std::shared_ptr<NeighbourCache> of(uint32_t container);
  size_t bytes() const { return used_; }

 private:
  static constexpr size_t kGraphsMax = 64;

  const size_t bytes_max_;
  std::atomic<size_t> used_{0};
  Mutex mutex_;
  std::vector<std::pair<uint32_t, std::shared_ptr<NeighbourCache>>> caches_
      ORRERY_GUARDED_BY(mutex_);
};

}  // namespace orrery::gremlin
