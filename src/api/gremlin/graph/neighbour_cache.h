// What traversals have read of a graph, decoded, for those that come after them: vertices, by their
// keys and by their ids alone, and the neighbours of each. It saves a hop the index, the edges and
// their JSON.
//
// It follows the partitions by their LSNs. Before a traversal uses it, catch_up() drops what the
// changes and removals since then are about. So a traversal sees every write that was acknowledged
// before it began, by whatever protocol. What was read is kept only if no change of its partition
// was taken in meanwhile (Moment).
//
// Where items expire, nothing is kept: no LSN tells of that. Nor where partitions are at other
// nodes.
//
// Vertices that it gives are shared between traversals, and must not be changed.
//
// Threading: any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/gremlin/traversal/graph.h"
#include "base/thread_annotations.h"
#include "cluster/routing.h"

namespace orrery::gremlin {

// What it took to read something: the same is charged when it is found here.
struct ReadCost {
  uint64_t items = 0;
  uint64_t bytes = 0;     // charged
  uint64_t returned = 0;  // bytes
  uint64_t entries = 0;   // of the index
  ReadCost& operator+=(const ReadCost& other) {
    items += other.items;
    bytes += other.bytes;
    returned += other.returned;
    entries += other.entries;
    return *this;
  }
};

class NeighbourCache {
 public:
  // Edges of one vertex in one direction; one with more is read page by page instead.
  static constexpr size_t kListMax = 2048;

  struct Node;
  using NodePtr = std::shared_ptr<Node>;
  struct Adjacent {
    NodePtr other;
    uint64_t edge;  // its item: item_hash()
  };
  // The edges of one label.
  struct Stretch {
    std::string label;
    size_t from;
    size_t to;
  };
  struct List {
    std::vector<Adjacent> edges;  // by label, and then in the order in which they were made
    std::vector<Stretch> labels;
    ReadCost cost;
    bool is_too_long = false;
  };
  using ListPtr = std::shared_ptr<const List>;
  // A vertex that was read, or that an edge names. The cache's lock guards all but the key.
  struct Node {
    ElementKey key;
    size_t part = 0;       // its partition, among the container's
    bool is_read = false;  // whether `vertex` says what is there
    VertexPtr vertex;      // null: there is none
    ReadCost cost;         // of `vertex`
    size_t vertex_bytes = 0;
    ListPtr out;
    ListPtr in;
    bool is_used = true;  // since the last eviction
  };
  // The positions of the partitions when a traversal began to read.
  struct Moment {
    uint64_t generation = 0;
    std::vector<uint64_t> lsns;
  };
  struct FoundEdge {
    ElementKey other;
    std::string label;
    uint64_t age;
    uint64_t edge;
  };
  struct FoundById {
    std::vector<ElementKey> keys;
    std::vector<const Node*> nodes;   // of the keys; to be compared only
    std::vector<VertexPtr> vertices;  // empty when not all of them are known
    ReadCost cost;
  };

  // `used`: the bytes of all caches of the server, of which there may be `bytes_max`.
  NeighbourCache(std::atomic<size_t>& used, size_t bytes_max)
      : used_(used), bytes_max_(bytes_max) {}
  ~NeighbourCache();
  NeighbourCache(const NeighbourCache&) = delete;
  NeighbourCache& operator=(const NeighbourCache&) = delete;

  // Drops what is out of date. Nothing: it cannot be used. `key_name`: the property that is the
  // partition key. Reads what has changed.
  std::optional<Moment> catch_up(const cluster::RoutingPtr& routing, const std::string& key_name);

  // The neighbours of vertices; null where they are not known.
  std::vector<ListPtr> lists(std::span<const VertexPtr> vertices, bool is_out);
  // Makes the list of a vertex, and keeps it if it is still true.
  ListPtr put_list(const Moment& moment, const ElementKey& of, bool is_out,
                   std::vector<FoundEdge> edges, const ReadCost& cost);
  // It has more than kListMax.
  void put_too_long(const Moment& moment, const ElementKey& of, bool is_out);

  // Calls take(i, is_read, vertex, cost) for each.
  template <class Take>
  void each_vertex(std::span<Node* const> nodes, const Take& take) {
    MutexLock lock(mutex_);
    for (size_t i = 0; i < nodes.size(); ++i) {
      Node& node = *nodes[i];
      node.is_used = true;
      take(i, node.is_read, node.vertex, node.cost);
    }
  }
  // `vertex`: null when there is none.
  void put_vertex(const Moment& moment, Node& node, VertexPtr vertex, const ReadCost& cost,
                  size_t bytes);

  // All vertices with an id, whatever their partition keys.
  std::optional<FoundById> find_id(const std::string& id);
  void put_id(const Moment& moment, const std::string& id, std::span<const ElementKey> keys,
              const ReadCost& cost);
  NodePtr node(const ElementKey& key);

  static uint64_t item_hash(std::string_view placement, std::string_view row);
  void clear();

 private:
  struct Id {
    std::vector<NodePtr> nodes;
    bool is_complete = false;
    ReadCost cost;
  };
  // The lists that name an edge.
  struct Ends {
    Node* out = nullptr;
    Node* in = nullptr;
  };

  void follow(size_t part, const partition::Partition& partition) ORRERY_REQUIRES(mutex_);
  void drop_item(std::string_view placement, const std::string& row) ORRERY_REQUIRES(mutex_);
  void drop_part(size_t part) ORRERY_REQUIRES(mutex_);
  void drop_list(Node& node, bool is_out) ORRERY_REQUIRES(mutex_);
  void drop_vertex(Node& node) ORRERY_REQUIRES(mutex_);
  bool register_list(Node& node, bool is_out, const List& list) ORRERY_REQUIRES(mutex_);
  void evict() ORRERY_REQUIRES(mutex_);
  void clear_all() ORRERY_REQUIRES(mutex_);
  NodePtr find_node(const ElementKey& key) const ORRERY_REQUIRES(mutex_);
  NodePtr make_node(const ElementKey& key) ORRERY_REQUIRES(mutex_);
  size_t part_of(const ElementKey& key) const ORRERY_REQUIRES(mutex_);
  bool is_true(const Moment& moment, size_t part) const ORRERY_REQUIRES(mutex_);
  bool is_true(const Moment& moment) const ORRERY_REQUIRES(mutex_);
  void grow(size_t bytes) ORRERY_REQUIRES(mutex_);
  void shrink(size_t bytes) ORRERY_REQUIRES(mutex_);

  std::atomic<size_t>& used_;
  const size_t bytes_max_;
  Mutex mutex_;
  cluster::RoutingPtr routing_ ORRERY_GUARDED_BY(mutex_);
  std::string key_name_ ORRERY_GUARDED_BY(mutex_);
  uint64_t generation_ ORRERY_GUARDED_BY(mutex_) = 1;
  std::vector<uint64_t> lsns_ ORRERY_GUARDED_BY(mutex_);
  std::unordered_map<std::string, Id> ids_ ORRERY_GUARDED_BY(mutex_);
  std::unordered_map<uint64_t, Ends> edges_ ORRERY_GUARDED_BY(mutex_);
  size_t bytes_ ORRERY_GUARDED_BY(mutex_) = 0;
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
