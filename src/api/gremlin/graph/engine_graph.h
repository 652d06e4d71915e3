// The graph of a traversal over a container of the engine. Conditions become the filter of an index
// query; the vertices of a hop become lookups in the index of their partitions; vertices by their
// keys are read together.
//
// out() reads the partitions of the vertices that it starts from, since edges lie with their
// source. in() asks the index of all partitions for `_sink` (decision 0031). Neighbours that an
// earlier traversal has read are known from its cache, and charged as if they were read.
//
// Writes are staged until commit(): those of one partition key are stored together, and a traversal
// that fails before has stored nothing, unless there were more than can be kept.
//
// Threading: one thread at a time. It blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "api/gremlin/graph/item.h"
#include "api/gremlin/graph/item_reader.h"
#include "api/gremlin/graph/staged_writes.h"
#include "api/gremlin/traversal/graph.h"

namespace orrery::gremlin {

class EngineGraph final : public Graph {
 public:
  // Code::invalid when the container cannot be a graph.
  static Result<std::unique_ptr<EngineGraph>> open(GraphTerms terms, cluster::RoutingPtr routing);

  Result<std::unique_ptr<ElementCursor>> find_vertices(const ElementFilter& filter) override;
  Result<std::unique_ptr<ElementCursor>> find_edges(const ElementFilter& filter) override;
  Result<std::optional<uint64_t>> count(const ElementFilter& filter, bool edges) override;
  Result<std::unique_ptr<HopCursor>> edges_of(std::vector<VertexPtr> vertices,
                                              const HopFilter& hop) override;
  Result<std::unique_ptr<NeighbourCursor>> neighbours_of(std::vector<VertexPtr> vertices,
                                                         const HopFilter& hop) override;
  Result<std::optional<std::vector<uint64_t>>> degrees_of(std::span<const VertexPtr> vertices,
                                                          const HopFilter& hop) override;
  Result<std::vector<VertexPtr>> vertices(std::span<const ElementKey> keys) override;
  Status add(const VertexPtr& vertex) override;
  Status add(const EdgePtr& edge) override;
  Status save(const VertexPtr& vertex) override;
  Status save(const EdgePtr& edge) override;
  Status drop(const VertexPtr& vertex) override;
  Status drop(const EdgePtr& edge) override;
  Status show_system_properties(const std::vector<std::string>& names) override;
  Status check() override { return reader_.check(); }
  StoreWork work() const override;

  // The traversal has no step that writes: vertices that others have read can be given to it.
  void will_not_write() { writes_ = false; }
  // Stores what is staged.
  Status commit();
  bool has_staged() const { return !staged_.empty(); }
  // Of commits so far, and what is still staged.
  WriteReport written() const;
  // Why check() ended the traversal.
  bool timed_out() const { return reader_.timed_out(); }

 private:
  class FoundByQuery;
  class FoundList;
  class Hops;
  class Neighbours;
  struct FoundVertex {
    VertexPtr vertex;
    size_t bytes;  // of its item
  };
  // The lists of a vertex; null on a side that the hop does not go to.
  struct Lists {
    NeighbourCache::ListPtr out;
    NeighbourCache::ListPtr in;
  };
  struct KeyHash {
    size_t operator()(const ElementKey& key) const {
      return std::hash<std::string>()(key.id) ^ (key.partition.hash() * 31);
    }
  };

  EngineGraph(GraphTerms terms, cluster::RoutingPtr routing, std::string key_name)
      : terms_(std::move(terms)), reader_(terms_, std::move(routing)), form_{std::move(key_name)} {}

  Result<std::unique_ptr<ElementCursor>> find(const ElementFilter& filter, bool edges);
  Result<std::vector<Value>> find_by_id(const ElementFilter& filter, bool edges);
  // Gives what is named by a partition key and an id; the ids that stand alone are left.
  Result<std::set<std::string>> take_pairs(const ElementFilter& filter, bool edges,
                                           const std::function<void(const Value&)>& take);
  Result<Value> element_of(std::string_view json);
  // Of the partition key's value.
  std::string place(const Value& partition) const;
  // Reads what is not known of these.
  Status load(const std::vector<ElementKey>& keys);
  Status read_all(ItemFilter filter, const ItemReader::Take& take);

  // engine_graph_neighbours.cc
  bool has_cache();
  // Whether it was known; charges and gives the vertices then.
  Result<bool> find_known_id(const std::string& id, const std::function<void(const Value&)>& take);
  // The items with an id. Code::unsupported when the index cannot tell.
  Status look_up_id(const std::string& id, const ItemReader::Take& take);
  // Charges what was found by an id, and keeps it.
  Status remember_id(const std::string& id, std::span<const FoundVertex> vertices);
  // Nothing: they have to be read as edges.
  Result<std::optional<std::vector<Lists>>> lists_of(std::span<const VertexPtr> vertices,
                                                     const HopFilter& hop);
  Result<bool> fill_lists(std::span<const VertexPtr> vertices, bool is_out,
                          std::vector<NeighbourCache::ListPtr>& lists);
  Status charge_lists(std::span<const VertexPtr> vertices, std::span<const Lists> lists);

  Status stage(partition::Verb verb, const ElementKey& key, const std::string& json,
               const std::string& version, Value element);
  Status stage_removal(const ElementKey& key, Value element);
  Status stage(partition::Write write, Value element);
  Status keep(size_t bytes);

  const GraphTerms terms_;
  ItemReader reader_;
  ItemForm form_;
  StagedWrites staged_;
  WriteReport written_;
  size_t kept_ = 0;
  std::unordered_map<ElementKey, VertexPtr, KeyHash> known_vertices_;
  std::unordered_map<ElementKey, EdgePtr, KeyHash> known_edges_;
  // All edges of vertices, by the hop that has read them: a repeat() comes by again.
  struct KnownEdge {
    EdgePtr edge;
    uint64_t age;  // as SharedItems::age() tells
  };
  using EdgesOfVertices = std::unordered_map<ElementKey, std::vector<KnownEdge>, KeyHash>;
  std::unordered_map<std::string, EdgesOfVertices> known_hops_;
  bool writes_ = true;
  std::optional<NeighbourCache::Moment> moment_;  // of the cache
  std::unordered_set<const void*> charged_;       // lists and nodes of the cache
};

}  // namespace orrery::gremlin
