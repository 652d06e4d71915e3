// The graph of a traversal over a container of the engine. Conditions become the filter of an index
// query; the ids of a hop become the list of one query; a vertex by its key is one read.
//
// out() reads the partitions of the vertices that it starts from, since edges lie with their
// source. in() asks the index of all partitions for `_sink`, at the same time (decision 0031).
//
// Threading: one thread at a time. It blocks.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/gremlin/traversal/graph.h"
#include "base/clock.h"
#include "cluster/engine.h"
#include "cluster/query/container_query.h"
#include "cluster/query/remote_views.h"
#include "face/shared_items.h"
#include "value/json.h"

namespace orrery::gremlin {

// What a traversal has cost so far.
struct Spent {
  double charge = 0;
  uint64_t queries = 0;
  uint64_t reads = 0;
  uint64_t writes = 0;
  uint64_t items = 0;    // read by queries
  uint64_t entries = 0;  // of the index
};

struct GraphTerms {
  cluster::Engine& engine;
  const face::SharedItems& items;
  const Clock& clock;
  query::Helpers* helpers;
  cluster::RemoteViews* remote;
  int64_t until_us;                 // on the steady clock
  std::function<bool()> is_wanted;  // whether the client is there
  size_t memory_max;
};

class EngineGraph final : public Graph {
 public:
  // Code::invalid when the container cannot be a graph.
  static Result<std::unique_ptr<EngineGraph>> open(GraphTerms terms, cluster::RoutingPtr routing);

  Result<std::unique_ptr<ElementCursor>> find_vertices(const ElementFilter& filter) override;
  Result<std::unique_ptr<ElementCursor>> find_edges(const ElementFilter& filter) override;
  Result<std::vector<std::vector<EdgePtr>>> edges_of(
      std::span<const VertexPtr> vertices, Way way,
      const std::vector<std::string>& labels) override;
  Result<std::vector<VertexPtr>> vertices(std::span<const ElementKey> keys) override;
  Status add(const VertexPtr& vertex) override;
  Status add(const EdgePtr& edge) override;
  Status save(const VertexPtr& vertex) override;
  Status save(const EdgePtr& edge) override;
  Status drop(const VertexPtr& vertex) override;
  Status drop(const EdgePtr& edge) override;
  Status check() override;

  const Spent& spent() const { return spent_; }
  // Why check() ended the traversal.
  bool timed_out() const { return timed_out_; }

 private:
  class Query;
  class Cursor;
  class ListCursor;
  struct KeyHash {
    size_t operator()(const ElementKey& key) const {
      return std::hash<std::string>()(key.id) ^ (key.partition.hash() * 31);
    }
  };

  EngineGraph(GraphTerms terms, cluster::RoutingPtr routing, std::string key_name)
      : terms_(std::move(terms)), routing_(std::move(routing)), key_name_(std::move(key_name)) {}

  Result<std::unique_ptr<ElementCursor>> find(const ElementFilter& filter, bool edges);
  std::unique_ptr<Query> query(std::string text, std::vector<Value> parameters);
  Result<Value> element_of(std::string_view json);
  // Of the partition key's value.
  std::string place(const Value& partition) const;
  Result<Value> read(const ElementKey& key);  // null when there is none
  Result<std::string> write(partition::Write write);
  Result<std::string> store(partition::Verb verb, const std::string& json,
                            const std::string& version);
  Status remove(const ElementKey& key, const std::string& version);
  Status keep(size_t bytes);

  GraphTerms terms_;
  cluster::RoutingPtr routing_;
  const std::string key_name_;
  Spent spent_;
  size_t kept_ = 0;
  bool timed_out_ = false;
  std::unordered_map<ElementKey, VertexPtr, KeyHash> known_vertices_;
  std::unordered_map<ElementKey, EdgePtr, KeyHash> known_edges_;
};

}  // namespace orrery::gremlin
