// What traversals have read of a graph: its vertices by number, what is there of each, and their
// neighbours as lists of numbers. It saves a hop the index, the edges and their JSON.
//
// Vertices are numbered as they are met, by a traversal or as the end of an edge. A number stays
// what it is for the life of this object. When there is no room for more, everything else is
// dropped, and it is retired: the traversals that have its numbers end with it, and others begin
// with a new one (neighbour_cache.h).
//
// It follows the partitions by their LSNs. Before a traversal uses it, catch_up() drops what the
// changes and removals since then are about, adds new edges to the lists of their vertices, and
// gives a moment. What traversals of this process have stored is told by note_stored(), before its
// LSN can be seen; for all else the change feed is read. What a traversal reads after its moment is
// kept only if no change since then is about it.
//
// Vertices that it gives are shared between traversals, and must not be changed.
//
// Threading: any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/gremlin/graph/edge_ends.h"
#include "api/gremlin/graph/stored_notes.h"
#include "api/gremlin/traversal/graph.h"
#include "base/shared_mutex.h"
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
  static ReadCost of_item(size_t json_bytes);
};

class KnownGraph {
 public:
  // Edges of one vertex in one direction; one with more is read page by page instead.
  static constexpr size_t kListMax = 2048;

  using Number = uint32_t;
  // The edges of one label.
  struct Stretch {
    uint32_t label;
    uint32_t from;
    uint32_t to;
  };
  // Immutable.
  struct List {
    std::vector<Number> others;   // those of a label in the order in which they were made
    std::vector<uint64_t> edges;  // their items: item_hash()
    std::vector<Stretch> labels;
    ReadCost cost;
    bool is_too_long = false;
    size_t memory() const {
      return 160 + others.size() * (sizeof(Number) + sizeof(uint64_t)) +
             labels.size() * sizeof(Stretch);
    }
  };
  using ListPtr = std::shared_ptr<const List>;
  struct FoundEdge {
    ElementKey other;
    std::string label;
    uint64_t age;
    uint64_t edge;
  };
  // What is at a number.
  struct Known {
    bool is_known = false;
    bool exists = false;
    uint32_t json_bytes = 0;  // of its item
    VertexPtr vertex = {};    // null: it was not decoded
  };
  struct FoundById {
    std::vector<ElementKey> keys;
    std::vector<Number> numbers;      // of the keys
    std::vector<VertexPtr> vertices;  // empty when not all of them are known
    ReadCost cost;
  };

  // `used`: the bytes of all graphs of the server, of which there may be `bytes_max`. `key_name`:
  // the property that is the partition key.
  KnownGraph(std::atomic<size_t>& used, size_t bytes_max, cluster::RoutingPtr routing,
             std::string key_name);
  ~KnownGraph();
  KnownGraph(const KnownGraph&) = delete;
  KnownGraph& operator=(const KnownGraph&) = delete;

  bool is_of(const cluster::Routing& routing) const { return routing_->slots == routing.slots; }
  bool is_retired() const { return is_retired_.load(std::memory_order_acquire); }
  void retire();

  // Drops what is out of date, and gives the moment. Reads what has changed and was not noted.
  uint64_t catch_up();
  // Nothing when that has to be read, or when others are about it.
  std::optional<uint64_t> try_catch_up();
  // All writes of one transaction that the partition with this range has stored.
  void note_stored(uint32_t range, std::vector<StoredNotes::Stored> transaction);
  // For whoever writes: catches up when much was noted, as try_catch_up() does. While nobody reads,
  // more would be noted than can be kept.
  void keep_up();
  // How often catch_up() has read the change feed of a partition, for tests.
  uint64_t feeds_read() const { return feeds_read_.load(std::memory_order_relaxed); }

  // Numbers those that have none.
  std::vector<Number> numbers(std::span<const ElementKey> keys);
  std::vector<ElementKey> keys(std::span<const Number> numbers) const;
  // Of labels that some list has.
  std::vector<uint32_t> labels(std::span<const std::string> names) const;

  // The neighbours of vertices; null where they are not known.
  std::vector<ListPtr> lists(std::span<const Number> vertices, bool is_out);
  // Makes the list of a vertex, and keeps it if it is still true.
  ListPtr put_list(uint64_t moment, Number of, bool is_out, std::vector<FoundEdge> edges,
                   const ReadCost& cost);
  // It has more than kListMax.
  void put_too_long(uint64_t moment, Number of, bool is_out);

  // Calls take(i, known) for each.
  template <class Take>
  void each_vertex(std::span<const Number> numbers, const Take& take) {
    const ReadLock lock(mutex_);
    for (size_t i = 0; i < numbers.size(); ++i) {
      mark_used(numbers[i]);
      take(i, known_[numbers[i]]);
    }
  }
  // One that is known stays as it is, unless `read` has it decoded.
  void put_vertices(uint64_t moment, std::span<const std::pair<Number, Known>> read);

  // Whether a placement is to be read as a whole, now that outgoing edges of a vertex there are not
  // known: when that has happened some times, and once.
  bool is_worth_a_scan(std::string_view placement);

  // All vertices with an id, whatever their partition keys.
  std::optional<FoundById> find_id(const std::string& id);
  void put_id(uint64_t moment, const std::string& id, std::span<const ElementKey> keys,
              const ReadCost& cost);

  static uint64_t item_hash(std::string_view placement, std::string_view row);

 private:
  static constexpr Number kNone = UINT32_MAX;
  // Changes: they are taken in within some hundred microseconds.
  static constexpr size_t kKeptUpWith = 64;
  enum class About : uint8_t { vertex, outgoing, incoming };
  // The vertices with one id.
  struct Id {
    Number first = kNone;
    bool is_complete = false;
    ReadCost cost;
  };

  // What has happened in a partition up to an LSN; nothing: too much to tell.
  struct News {
    size_t part;
    uint64_t lsn;
    std::optional<std::vector<StoredNotes::Change>> changes;
  };
  // The moment, unless some partition has gone on since.
  std::optional<uint64_t> current_moment() const;
  // Catches up with every partition, or those of which everything was noted. Nothing: not all.
  std::optional<uint64_t> follow(bool reads) ORRERY_REQUIRES(following_);
  bool is_behind(size_t part) const ORRERY_REQUIRES_SHARED(mutex_);
  News read_news(size_t part, const partition::Partition& partition, uint64_t from) const;
  void take_in(const News& news) ORRERY_REQUIRES(mutex_);
  // An edge that is new at one of its vertices.
  void add_edge(Number of, bool is_out, const StoredNotes::Change& change) ORRERY_REQUIRES(mutex_);
  // False: the list can only be read again.
  bool try_add_edge(Number of, bool is_out, const StoredNotes::Change& change)
      ORRERY_REQUIRES(mutex_);
  void drop_item(std::string_view placement, const std::string& row) ORRERY_REQUIRES(mutex_);
  void drop_part(size_t part) ORRERY_REQUIRES(mutex_);
  void drop_list(Number of, bool is_out) ORRERY_REQUIRES(mutex_);
  void drop_vertex(Number vertex) ORRERY_REQUIRES(mutex_);
  // Changes that are about this: what was read before is not kept any more.
  void note_change(uint64_t hash) ORRERY_REQUIRES(mutex_);
  bool is_true(uint64_t moment, uint64_t hash) const ORRERY_REQUIRES(mutex_);
  static uint64_t hash_of(const std::string& id, About about);

  std::vector<ListPtr>& side(bool is_out) ORRERY_REQUIRES_SHARED(mutex_) {
    return is_out ? out_ : in_;
  }
  bool keep_list(Number of, bool is_out, ListPtr list) ORRERY_REQUIRES(mutex_);
  void unregister(Number of, bool is_out, const List& list, size_t count) ORRERY_REQUIRES(mutex_);
  Number find_number(const ElementKey& key) const ORRERY_REQUIRES_SHARED(mutex_);
  Number make_number(const ElementKey& key) ORRERY_REQUIRES(mutex_);
  uint32_t label_number(const std::string& name) ORRERY_REQUIRES(mutex_);
  void mark_used(Number number) ORRERY_REQUIRES_SHARED(mutex_) {
    std::atomic_ref<uint8_t>(is_used_[number]).store(1, std::memory_order_relaxed);
  }
  void evict() ORRERY_REQUIRES(mutex_);
  void drop_all() ORRERY_REQUIRES(mutex_);
  void grow(size_t bytes) ORRERY_REQUIRES(mutex_);
  void shrink(size_t bytes) ORRERY_REQUIRES(mutex_);

  std::atomic<size_t>& used_;
  const size_t bytes_max_;
  const cluster::RoutingPtr routing_;
  const std::string key_name_;
  std::atomic<bool> is_retired_{false};

  StoredNotes noted_;
  std::atomic<size_t> keeps_up_at_{kKeptUpWith};  // so many changes
  std::atomic<uint64_t> feeds_read_{0};
  // Held while it catches up, so that the change feed is read without mutex_. Before mutex_.
  Mutex following_;
  mutable SharedMutex mutex_;
  std::vector<uint64_t> lsns_ ORRERY_GUARDED_BY(mutex_);  // of the partitions
  // How often it has caught up with something; that of each change, by a part of its hash; and of
  // the newest that is about everything.
  uint64_t moment_ ORRERY_GUARDED_BY(mutex_) = 1;
  std::vector<uint64_t> changed_at_ ORRERY_GUARDED_BY(mutex_);
  uint64_t all_changed_at_ ORRERY_GUARDED_BY(mutex_) = 0;

  // By number.
  std::deque<ElementKey> keys_ ORRERY_GUARDED_BY(mutex_);
  std::vector<Number> same_id_ ORRERY_GUARDED_BY(mutex_);  // the next with this id
  std::vector<uint32_t> parts_ ORRERY_GUARDED_BY(mutex_);  // partition, among the container's
  std::vector<Known> known_ ORRERY_GUARDED_BY(mutex_);
  std::vector<ListPtr> out_ ORRERY_GUARDED_BY(mutex_);
  std::vector<ListPtr> in_ ORRERY_GUARDED_BY(mutex_);
  std::vector<uint8_t> is_used_ ORRERY_GUARDED_BY(mutex_);  // since the last eviction; atomic

  std::unordered_map<std::string_view, Id> ids_ ORRERY_GUARDED_BY(mutex_);  // in keys_
  std::unordered_map<std::string, uint32_t> labels_ ORRERY_GUARDED_BY(mutex_);
  EdgeEnds ends_ ORRERY_GUARDED_BY(mutex_);
  std::vector<uint8_t> misses_ ORRERY_GUARDED_BY(mutex_);  // by a part of the placement's hash
  size_t bytes_ ORRERY_GUARDED_BY(mutex_) = 0;
};

}  // namespace orrery::gremlin
