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
#include "api/gremlin/value/number_set.h"

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
  Result<bool> number(std::span<const VertexPtr> vertices, std::vector<uint32_t>& to) override;
  Result<std::vector<VertexPtr>> numbered(std::span<const uint32_t> numbers) override;
  Result<bool> hop(const Frontier& from, const HopFilter& hop, Frontier& to) override;
  Result<std::optional<uint64_t>> count_hop(const Frontier& from, const HopFilter& hop) override;
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

  // The traversal has no step that writes: it goes by what others have read.
  void will_not_write() { writes_ = changes_vertices_ = false; }
  // It has none that changes or drops a vertex: those that others have read can be given to it.
  void will_only_add() { changes_vertices_ = false; }
  // Stores what is staged.
  Status commit();
  // Whether that is one transaction, which need not be waited for.
  bool can_commit_later() const {
    return !staged_.empty() && staged_.is_of_one_key() && written_.stored == 0;
  }
  // The last thing that is asked of it, which it outlives. `done` is called on any thread.
  void commit_later(StagedWrites::Done done);
  bool has_staged() const { return !staged_.empty(); }
  // At the end of a traversal without commit_later(): pays what it owes.
  void settle() { reader_.settle(); }
  // Of commits so far, and what is still staged.
  WriteReport written() const;
  // Why check() ended the traversal.
  bool timed_out() const { return reader_.timed_out(); }

 private:
  class FoundByQuery;
  class FoundByLookup;
  class FoundList;
  class Hops;
  class Neighbours;
  struct FoundVertex {
    VertexPtr vertex;
    size_t bytes;  // of its item
  };
  using Number = KnownGraph::Number;
  using ListPtr = KnownGraph::ListPtr;
  // The lists of vertices; a side that the hop does not go to is empty.
  struct Lists {
    std::vector<ListPtr> out;
    std::vector<ListPtr> in;
    std::vector<uint32_t> labels;  // that the hop goes along
    bool any_label;
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
  Result<std::optional<Lists>> lists_of(std::span<const Number> vertices, const HopFilter& hop);
  // Reads the lists that are null. False: they cannot be had this way.
  Result<bool> fill_lists(std::span<const Number> vertices, bool is_out,
                          std::vector<ListPtr>& lists);
  Result<bool> read_lists(std::span<const Number> vertices, bool is_out);
  // Reads whole partition keys where vertices of them have come before.
  Status read_neighbourhoods(std::span<const Number> vertices);
  Status read_neighbourhood(const std::string& placement);
  Status charge_lists(std::span<const Number> vertices, const Lists& lists);

  // engine_graph_walk.cc
  // Calls take(i, number) along the lists of each vertex.
  template <class Take>
  static void each_neighbour(const Lists& lists, const Take& take);
  // What is at these numbers, which it charges when the traversal has not paid for it. What is not
  // known is read. `decoded`: with the vertices themselves.
  Status look_at(std::span<const Number> numbers, bool decoded,
                 std::vector<KnownGraph::Known>& found);
  Status read_vertices(std::span<const Number> numbers, bool decoded);
  // What the traversal has read in other ways is paid for.
  void note_paid();
  KnownGraph& known_graph() { return *moment_->graph; }

  StagedWrites::Terms commit_terms();
  Status stage(partition::Verb verb, const ElementKey& key, const std::string& json,
               const std::string& version, Value element);
  Status stage_removal(const ElementKey& key, Value element);
  Status stage(partition::Write write, Value element);
  Status keep(size_t bytes);
  // For something that is not kept.
  Status check_room(size_t bytes) const;

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
  bool changes_vertices_ = true;
  std::optional<NeighbourCache::Moment> moment_;  // of the cache
  // What was read for the cache, which may have dropped it since.
  std::unordered_map<Number, ListPtr> read_out_;
  std::unordered_map<Number, ListPtr> read_in_;
  std::unordered_map<Number, KnownGraph::Known> read_vertices_;
  // What the traversal has paid for, by number.
  NumberSet paid_out_;
  NumberSet paid_in_;
  NumberSet paid_vertices_;
  size_t scans_ = 0;                   // of whole partition keys
  std::vector<ElementKey> paid_keys_;  // of vertices that are not in paid_vertices_ yet
};

}  // namespace orrery::gremlin
