// Hops and vertices by what is known from other traversals (neighbour_cache.h). Whatever is not
// known is read, and then known. The charge is the same either way: that of reading it once in a
// traversal.
#include <algorithm>
#include <utility>

#include "api/gremlin/graph/engine_graph.h"
#include "api/gremlin/graph/item.h"
#include "prices/request_units.h"
#include "value/json.h"

namespace orrery::gremlin {
namespace {

using Node = NeighbourCache::Node;
using FoundEdge = NeighbourCache::FoundEdge;

constexpr size_t kEdgesOfPage = 4096;
constexpr size_t kVerticesOfPageMin = 64;
constexpr size_t kFoundEdgeBytes = 256;

ReadCost cost_of_item(size_t json_bytes) {
  return {.items = 1, .bytes = prices::charged_bytes(json_bytes), .returned = json_bytes};
}

size_t memory_of_vertex(size_t json_bytes) {
  return 2 * json_bytes + 256;
}

// Calls take(from, to) for the stretches of a list that a hop goes along.
template <class Take>
void each_stretch(const NeighbourCache::List& list, const HopFilter& hop, const Take& take) {
  for (const NeighbourCache::Stretch& one : list.labels) {
    const bool is_wanted =
        hop.labels.empty() || std::ranges::find(hop.labels, one.label) != hop.labels.end();
    if (is_wanted) take(one.from, one.to);
  }
}

}  // namespace

bool EngineGraph::has_cache() {
  const bool may_have =
      terms_.cache && terms_.remote == nullptr && !terms_.only_placement && form_.shown.empty();
  if (may_have && !moment_) {
    moment_ = terms_.cache->catch_up(reader_.routing_ptr(), form_.key_name);
  }
  return may_have && moment_.has_value();
}

Result<bool> EngineGraph::find_known_id(const std::string& id,
                                        const std::function<void(const Value&)>& take) {
  const auto known = terms_.cache->find_id(id);
  if (!known || known->keys.empty()) return false;
  if (auto charged = reader_.charge(place(known->keys.front().partition), known->cost); !charged) {
    return pass(charged.error());
  }
  charged_.insert(known->nodes.begin(), known->nodes.end());
  if (!writes_ && !known->vertices.empty()) {
    for (const VertexPtr& vertex : known->vertices) {
      take(Value::of(known_vertices_.try_emplace(vertex->key, vertex).first->second));
    }
    return true;
  }
  std::vector<ElementKey> missing = known->keys;
  std::erase_if(missing, [&](const ElementKey& key) { return known_vertices_.contains(key); });
  {
    const ItemReader::Free free(reader_);
    if (auto loaded = load(missing); !loaded) return pass(loaded.error());
  }
  for (const ElementKey& key : known->keys) {
    const auto vertex = known_vertices_.find(key);
    if (vertex != known_vertices_.end()) take(Value::of(vertex->second));
  }
  return true;
}

Status EngineGraph::look_up_id(const std::string& id, const ItemReader::Take& take) {
  ItemReader::Lookup lookup(reader_, "id", {{id, ""}});
  if (!lookup.is_possible()) return fail(Code::unsupported, "ids are not indexed");
  while (!lookup.is_at_end()) {
    if (auto read = lookup.next(kEdgesOfPage, take); !read) return read;
  }
  return {};
}

Status EngineGraph::remember_id(const std::string& id, std::span<const FoundVertex> vertices) {
  ReadCost cost{.entries = 1 + vertices.size()};
  std::vector<ElementKey> keys;
  for (const FoundVertex& one : vertices) {
    keys.push_back(one.vertex->key);
    cost += cost_of_item(one.bytes);
  }
  const std::string placement = keys.empty() ? reader_.bounds().min : place(keys[0].partition);
  if (auto charged = reader_.charge(placement, cost); !charged) return charged;
  terms_.cache->put_id(*moment_, id, keys, cost);
  if (writes_) return {};  // it may change them
  for (const FoundVertex& one : vertices) {
    const auto node = terms_.cache->node(one.vertex->key);
    charged_.insert(node.get());
    terms_.cache->put_vertex(*moment_, *node, one.vertex, cost_of_item(one.bytes),
                             memory_of_vertex(one.bytes));
  }
  return {};
}

// Reads the lists that are null. False: they cannot be had this way.
Result<bool> EngineGraph::fill_lists(std::span<const VertexPtr> vertices, bool is_out,
                                     std::vector<NeighbourCache::ListPtr>& lists) {
  struct Found {
    std::vector<FoundEdge> edges;
    ReadCost cost{.entries = 1};
  };
  std::unordered_map<ElementKey, Found, KeyHash> found;
  std::vector<ItemReader::Lookup::Asked> asked;
  std::unordered_set<std::string> ids;
  for (size_t i = 0; i < lists.size(); ++i) {
    const ElementKey& key = vertices[i]->key;
    if (lists[i] || !found.try_emplace(key).second) continue;
    if (is_out) asked.push_back({key.id, place(key.partition)});
    if (!is_out && ids.insert(key.id).second) asked.push_back({key.id, ""});
  }
  if (found.empty()) return true;
  ItemReader::Lookup lookup(reader_, is_out ? "_vertexId" : "_sink", std::move(asked));
  if (!lookup.is_possible()) return false;
  const auto age = terms_.items.age();
  std::unordered_set<uint64_t> seen;
  const ElementKey* too_long = nullptr;
  const auto take = [&](std::string_view json) -> Status {
    auto document = value::JsonDocument::parse(json);
    if (!document) return pass(document.error());
    if (!is_edge_item(document->root())) return {};
    const EdgePtr edge = edge_of(document->root(), form_);
    const auto at = found.find(is_out ? edge->out : edge->in);
    if (at == found.end()) return {};
    const uint64_t hash = NeighbourCache::item_hash(place(edge->key.partition), edge->key.id);
    if (!seen.insert(hash).second) return {};
    at->second.edges.push_back(
        {is_out ? edge->in : edge->out, std::move(edge->label), age(json), hash});
    at->second.cost += cost_of_item(json.size());
    ++at->second.cost.entries;
    if (at->second.edges.size() > NeighbourCache::kListMax) too_long = &at->first;
    return keep(kFoundEdgeBytes);
  };
  const ItemReader::Free free(reader_);
  while (!lookup.is_at_end() && too_long == nullptr) {
    if (auto read = lookup.next(kEdgesOfPage, take); !read) {
      if (read.error().code == Code::unsupported) return false;
      return pass(read.error());
    }
  }
  if (too_long != nullptr) {
    terms_.cache->put_too_long(*moment_, *too_long, is_out);
    return false;
  }
  std::unordered_map<ElementKey, NeighbourCache::ListPtr, KeyHash> made;
  for (auto& [key, one] : found) {
    made[key] = terms_.cache->put_list(*moment_, key, is_out, std::move(one.edges), one.cost);
  }
  for (size_t i = 0; i < lists.size(); ++i) {
    if (!lists[i]) lists[i] = made[vertices[i]->key];
  }
  return true;
}

Result<std::optional<std::vector<EngineGraph::Lists>>> EngineGraph::lists_of(
    std::span<const VertexPtr> vertices, const HopFilter& hop) {
  if (writes_ || !hop.conditions.empty() || !has_cache()) return std::nullopt;
  std::vector<Lists> made(vertices.size());
  for (const bool is_out : {true, false}) {
    if (hop.way == (is_out ? Way::in : Way::out)) continue;
    std::vector<NeighbourCache::ListPtr> lists = terms_.cache->lists(vertices, is_out);
    const bool are_short =
        std::ranges::none_of(lists, [](const auto& list) { return list && list->is_too_long; });
    if (!are_short) return std::nullopt;
    auto filled = fill_lists(vertices, is_out, lists);
    if (!filled) return pass(filled.error());
    if (!*filled) return std::nullopt;
    for (size_t i = 0; i < lists.size(); ++i) {
      (is_out ? made[i].out : made[i].in) = std::move(lists[i]);
    }
  }
  if (auto charged = charge_lists(vertices, made); !charged) return pass(charged.error());
  if (auto current = terms_.engine.check_current(); !current) return pass(current.error());
  return made;
}

Status EngineGraph::charge_lists(std::span<const VertexPtr> vertices,
                                 std::span<const Lists> lists) {
  ReadCost cost;
  const VertexPtr* first = nullptr;
  for (size_t i = 0; i < lists.size(); ++i) {
    for (const auto* list : {lists[i].out.get(), lists[i].in.get()}) {
      if (list == nullptr || !charged_.insert(list).second) continue;
      cost += list->cost;
      if (first == nullptr) first = &vertices[i];
    }
  }
  if (first == nullptr) return {};
  return reader_.charge(place((*first)->key.partition), cost);
}

// The neighbours along lists; their vertices are read as they are asked for.
class EngineGraph::Neighbours final : public NeighbourCursor {
 public:
  Neighbours(EngineGraph& graph, std::vector<Lists> lists, const HopFilter& hop)
      : graph_(graph), lists_(std::move(lists)) {
    for (size_t i = 0; i < lists_.size(); ++i) {
      for (const auto* list : {lists_[i].out.get(), lists_[i].in.get()}) {
        if (list == nullptr) continue;
        each_stretch(*list, hop, [&](size_t from, size_t to) {
          for (size_t at = from; at < to; ++at) {
            nodes_.push_back(list->edges[at].other.get());
            from_.push_back(i);
          }
        });
      }
    }
  }

  Result<std::vector<Neighbour>> next(size_t want) override {
    std::vector<Neighbour> given;
    while (given.empty() && at_ < nodes_.size()) {
      const size_t count = std::min(std::max(want, kVerticesOfPageMin), nodes_.size() - at_);
      const auto page = std::span(nodes_).subspan(at_, count);
      std::vector<VertexPtr> vertices(count);
      if (auto read = read_vertices(page, vertices); !read) return pass(read.error());
      given.reserve(count);
      for (size_t i = 0; i < count; ++i) {
        if (vertices[i]) given.push_back({from_[at_ + i], std::move(vertices[i])});
      }
      at_ += count;
    }
    return given;
  }

 private:
  struct Loaded {
    VertexPtr vertex;
    ReadCost cost;
    size_t bytes = 0;
  };

  Status read_vertices(std::span<Node* const> page, std::vector<VertexPtr>& vertices) {
    std::vector<size_t> unknown;
    ReadCost cost;
    const auto note = [&](const Node* node, const ReadCost& one) {
      // What a query of this traversal has read is paid for.
      if (!graph_.charged_.insert(node).second || graph_.known_vertices_.contains(node->key))
        return;
      cost += one;
    };
    graph_.terms_.cache->each_vertex(
        page, [&](size_t i, bool is_read, const VertexPtr& vertex, const ReadCost& one) {
          if (!is_read) {
            unknown.push_back(i);
            return;
          }
          vertices[i] = vertex;
          note(page[i], one);
        });
    if (!unknown.empty()) {
      auto loaded = load(page, unknown);
      if (!loaded) return pass(loaded.error());
      for (const size_t i : unknown) {
        const Loaded& one = (*loaded)[page[i]->key];
        vertices[i] = one.vertex;
        note(page[i], one.cost);
      }
    }
    if (cost.items == 0) return {};
    return graph_.reader_.charge(graph_.place(page.front()->key.partition), cost);
  }

  using LoadedByKey = std::unordered_map<ElementKey, Loaded, KeyHash>;
  Result<LoadedByKey> load(std::span<Node* const> page, std::span<const size_t> which) {
    LoadedByKey loaded;
    std::vector<Node*> nodes;
    std::vector<ItemReader::Key> asked;
    for (const size_t i : which) {
      const ElementKey& key = page[i]->key;
      if (!loaded.try_emplace(key).second) continue;
      nodes.push_back(page[i]);
      asked.push_back({graph_.place(key.partition), key.id});
    }
    const ItemReader::Free free(graph_.reader_);
    auto fetched = graph_.reader_.fetch(std::move(asked), [&](std::string_view json) -> Status {
      auto document = value::JsonDocument::parse(json);
      if (!document) return pass(document.error());
      if (is_edge_item(document->root())) return {};
      VertexPtr vertex = vertex_of(document->root(), graph_.form_);
      Loaded& one = loaded[vertex->key];
      one = {std::move(vertex), cost_of_item(json.size()), memory_of_vertex(json.size())};
      return graph_.keep(one.bytes);
    });
    if (!fetched) return pass(fetched.error());
    for (Node* node : nodes) {
      const Loaded& one = loaded[node->key];
      graph_.terms_.cache->put_vertex(*graph_.moment_, *node, one.vertex, one.cost, one.bytes);
    }
    return loaded;
  }

  EngineGraph& graph_;
  const std::vector<Lists> lists_;  // keep the nodes
  std::vector<Node*> nodes_;
  std::vector<size_t> from_;
  size_t at_ = 0;
};

Result<std::unique_ptr<NeighbourCursor>> EngineGraph::neighbours_of(std::vector<VertexPtr> vertices,
                                                                    const HopFilter& hop) {
  auto lists = lists_of(vertices, hop);
  if (!lists) return pass(lists.error());
  if (!*lists) return nullptr;
  return std::make_unique<Neighbours>(*this, std::move(**lists), hop);
}

Result<std::optional<std::vector<uint64_t>>> EngineGraph::degrees_of(
    std::span<const VertexPtr> vertices, const HopFilter& hop) {
  auto lists = lists_of(vertices, hop);
  if (!lists) return pass(lists.error());
  if (!*lists) return std::nullopt;
  std::vector<uint64_t> degrees(vertices.size());
  for (size_t i = 0; i < degrees.size(); ++i) {
    const auto add = [&](size_t from, size_t to) { degrees[i] += to - from; };
    if ((**lists)[i].out) each_stretch(*(**lists)[i].out, hop, add);
    if ((**lists)[i].in) each_stretch(*(**lists)[i].in, hop, add);
  }
  return degrees;
}

}  // namespace orrery::gremlin
