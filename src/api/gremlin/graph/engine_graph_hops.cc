// From vertices to their edges. See engine_graph.h.
#include <algorithm>
#include <optional>
#include <unordered_set>

#include "api/gremlin/graph/engine_graph.h"
#include "api/gremlin/graph/item.h"

namespace orrery::gremlin {
namespace {

// So many edges of a vertex are read to be filtered here. Beyond that a query has the index filter
// them by label and conditions.
constexpr size_t kFilteredHereMax = 256;
constexpr size_t kEdgesOfPageMin = 64;

}  // namespace

// The edges of some vertices: the outgoing ones, then the incoming ones, then those that were
// staged when it began. What fits in one page is sorted by vertex.
class EngineGraph::Hops final : public HopCursor {
 public:
  Hops(EngineGraph& graph, std::vector<VertexPtr> vertices, const HopFilter& hop)
      : graph_(graph), hop_(hop), vertices_(std::move(vertices)), age_(graph.terms_.items.age()) {
    for (size_t i = 0; i < vertices_.size(); ++i) by_key_[vertices_[i]->key].push_back(i);
    if (hop.way != Way::in) sides_.push_back({.is_out = true});
    if (hop.way != Way::out) sides_.push_back({.is_out = false});
    staged_ = graph.staged_.elements(true);
  }

  Result<std::vector<HopEdge>> next(size_t want) override {
    const bool is_first = at_ == 0 && !sides_[0].is_begun;
    std::vector<Found> found;
    want = std::max(want, kEdgesOfPageMin);
    while (found.size() < want && at_ < sides_.size()) {
      Side& side = sides_[at_];
      if (auto read = read_page(side, want - found.size(), found); !read) {
        return pass(read.error());
      }
      if (side.is_done) ++at_;
    }
    // What comes at once is sorted by label, and then in the order in which it was made.
    const bool is_whole = is_first && at_ == sides_.size();
    std::ranges::sort(found, [&](const Found& a, const Found& b) {
      if (a.edge.from != b.edge.from) return a.edge.from < b.edge.from;
      if (a.is_out != b.is_out) return a.is_out;
      if (!is_whole) return a.number < b.number;
      const int by_label = a.edge.edge->label.compare(b.edge.edge->label);
      if (by_label != 0) return by_label < 0;
      return a.age != b.age ? a.age < b.age : a.number < b.number;
    });
    std::vector<HopEdge> edges;
    edges.reserve(found.size());
    for (Found& one : found) edges.push_back(std::move(one.edge));
    return edges;
  }

 private:
  struct Found {
    HopEdge edge;
    bool is_out;
    uint64_t age;
    size_t number;  // as it was found
  };
  struct Side {
    bool is_out;
    bool is_begun = false;
    bool is_done = false;
    std::unique_ptr<ItemReader::Lookup> lookup = nullptr;
    std::unique_ptr<ItemReader::Query> query = nullptr;
    std::unordered_set<const Edge*> given = {};
    std::vector<KnownEdge> read = {};
    std::vector<const ElementKey*> asked = {};  // of vertices whose edges are not known yet
    size_t looked_up = 0;
  };

  Status read_page(Side& side, size_t want, std::vector<Found>& found) {
    if (!side.is_begun) {
      begin(side, found);
      if (side.asked.empty()) {
        finish(side, found);
        return {};
      }
    }
    if (side.lookup) {
      auto read = look_up(side, want, found);
      const bool has_many = side.lookup && !side.lookup->is_at_end() && is_filtered() &&
                            side.looked_up >= kFilteredHereMax * vertices_.size();
      if ((!read && read.error().code == Code::unsupported) || has_many) {
        side.lookup.reset();
        side.query = std::make_unique<ItemReader::Query>(graph_.reader_, filter_of(side));
        return {};
      }
      if (!read) return read;
      if (!side.lookup->is_at_end()) return {};
    } else {
      auto rows = side.query->next(want);
      if (!rows) return pass(rows.error());
      if (*rows != nullptr) {
        for (const std::string_view row : **rows) {
          if (auto taken = take(side, row, found); !taken) return taken;
        }
        return {};
      }
    }
    finish(side, found);
    return {};
  }

  void finish(Side& side, std::vector<Found>& found) {
    for (const Value& edge : staged_) give(side, edge.edge(), UINT64_MAX, found);
    side.is_done = true;
    if (!hop_.conditions.empty()) return;
    EdgesOfVertices& known = graph_.known_hops_[name_of(side)];
    for (const auto& [key, indexes] : by_key_) known.try_emplace(key);
    for (const KnownEdge& one : side.read) {
      known[side.is_out ? one.edge->out : one.edge->in].push_back(one);
    }
  }

  std::string name_of(const Side& side) const {
    std::string name = side.is_out ? "out" : "in";
    for (const std::string& label : hop_.labels) name += '\0' + label;
    return name;
  }

  // Gives what is known already of these vertices. The others are to be read.
  void give_known(Side& side, std::vector<Found>& found) {
    const auto hops = graph_.known_hops_.find(name_of(side));
    for (const auto& [key, indexes] : by_key_) {
      const auto known =
          hops == graph_.known_hops_.end() ? EdgesOfVertices::iterator() : hops->second.find(key);
      if (hops == graph_.known_hops_.end() || known == hops->second.end()) {
        side.asked.push_back(&key);
        continue;
      }
      for (const KnownEdge& one : known->second) give(side, one.edge, one.age, found);
    }
  }

  bool is_filtered() const { return !hop_.labels.empty() || !hop_.conditions.empty(); }

  void begin(Side& side, std::vector<Found>& found) {
    side.is_begun = true;
    give_known(side, found);
    if (side.asked.empty()) return;
    std::vector<ItemReader::Lookup::Asked> asked;
    std::unordered_set<std::string> ids;
    for (const ElementKey* key : side.asked) {
      if (side.is_out) {
        asked.push_back({value::Value::make_string(key->id), graph_.place(key->partition)});
      } else if (ids.insert(key->id).second) {
        asked.push_back({value::Value::make_string(key->id), ""});
      }
    }
    side.lookup = std::make_unique<ItemReader::Lookup>(
        graph_.reader_, side.is_out ? "_vertexId" : "_sink", std::move(asked));
    if (side.lookup->is_possible()) return;
    side.lookup.reset();
    side.query = std::make_unique<ItemReader::Query>(graph_.reader_, filter_of(side));
  }

  // The same as a query.
  ItemFilter filter_of(const Side& side) const {
    ItemFilter filter(graph_.form_.key_name, true);
    Value::List ids, partitions;
    for (const ElementKey* key : side.asked) {
      ids.push_back(Value::text(key->id));
      partitions.push_back(key->partition);
    }
    filter.add_list(side.is_out ? "_vertexId" : "_sink", std::move(ids));
    // A key that is not there cannot be in a list.
    if (side.is_out && std::ranges::none_of(partitions, &Value::is_null)) {
      filter.add_list(graph_.form_.key_name, std::move(partitions));
    }
    if (!hop_.labels.empty()) filter.add_labels(hop_.labels);
    for (const Condition& condition : hop_.conditions) filter.add(condition);
    return filter;
  }

  Status look_up(Side& side, size_t want, std::vector<Found>& found) {
    return side.lookup->next(want, [&](std::string_view json) -> Status {
      ++side.looked_up;
      return take(side, json, found);
    });
  }

  Status take(Side& side, std::string_view json, std::vector<Found>& found) {
    auto element = graph_.element_of(json);
    if (!element) return pass(element.error());
    if (!element->is_edge()) return {};
    KnownEdge one{element->edge(), age_(json)};
    if (give(side, one.edge, one.age, found)) side.read.push_back(std::move(one));
    return {};
  }

  // Whether it is one of these vertices', and was not given before.
  bool give(Side& side, const EdgePtr& edge, uint64_t age, std::vector<Found>& found) {
    const auto at = by_key_.find(side.is_out ? edge->out : edge->in);
    if (at == by_key_.end() || edge->dropped) return false;
    if (!hop_.labels.empty() && std::ranges::find(hop_.labels, edge->label) == hop_.labels.end()) {
      return false;
    }
    if (!side.given.insert(edge.get()).second) return false;
    for (const size_t i : at->second) found.push_back({{i, edge}, side.is_out, age, found.size()});
    return true;
  }

  EngineGraph& graph_;
  const HopFilter hop_;
  const std::vector<VertexPtr> vertices_;
  std::unordered_map<ElementKey, std::vector<size_t>, KeyHash> by_key_;
  const std::function<uint64_t(std::string_view)> age_;  // of an item
  std::vector<Side> sides_;
  size_t at_ = 0;
  std::vector<Value> staged_;
};

Result<std::unique_ptr<HopCursor>> EngineGraph::edges_of(std::vector<VertexPtr> vertices,
                                                         const HopFilter& hop) {
  return std::make_unique<Hops>(*this, std::move(vertices), hop);
}

}  // namespace orrery::gremlin
