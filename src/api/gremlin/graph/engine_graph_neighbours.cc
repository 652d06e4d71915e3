// Vertices by their ids, and their neighbours, by what is known from other traversals
// (known_graph.h). Whatever is not known is read, and then known. The charge is the same either
// way: that of reading it once in a traversal.
#include <algorithm>
#include <utility>

#include "api/gremlin/graph/engine_graph.h"
#include "api/gremlin/graph/item.h"
#include "value/json.h"

namespace orrery::gremlin {
namespace {

using FoundEdge = KnownGraph::FoundEdge;

constexpr size_t kEdgesOfPage = 4096;
constexpr size_t kListsOfRead = 4096;
constexpr size_t kFoundEdgeBytes = 256;
// A partition key with more items is not read as a whole.
constexpr size_t kItemsOfScan = 4096;
// Of one traversal: a thousand items take some milliseconds, and most of them are for others.
constexpr size_t kScansMax = 1;

}  // namespace

bool EngineGraph::has_cache() {
  const bool may_have =
      terms_.cache && terms_.remote == nullptr && !terms_.only_placement && form_.shown.empty();
  if (may_have && !moment_) {
    moment_ = terms_.may_wait ? terms_.cache->catch_up(reader_.routing_ptr(), form_.key_name)
                              : terms_.cache->try_catch_up(reader_.routing_ptr());
  }
  return may_have && moment_.has_value();
}

Result<bool> EngineGraph::find_known_id(const std::string& id,
                                        const std::function<void(const Value&)>& take) {
  const auto known = known_graph().find_id(id);
  if (!known || known->keys.empty()) return false;
  if (auto charged = reader_.charge(place(known->keys.front().partition), known->cost); !charged) {
    return pass(charged.error());
  }
  for (const Number number : known->numbers) paid_vertices_.insert(number);
  if (!changes_vertices_) {
    std::vector<VertexPtr> vertices = known->vertices;
    if (vertices.empty()) {
      auto read = numbered(known->numbers);
      if (!read) return pass(read.error());
      vertices = std::move(*read);
    }
    for (const VertexPtr& vertex : vertices) {
      if (!vertex) continue;
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
  ItemReader::Lookup lookup(reader_, "id", {{value::Value::make_string(id), ""}});
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
    cost += ReadCost::of_item(one.bytes);
  }
  const std::string placement = keys.empty() ? reader_.bounds().min : place(keys[0].partition);
  if (auto charged = reader_.charge(placement, cost); !charged) return charged;
  known_graph().put_id(moment_->number, id, keys, cost);
  const std::vector<Number> numbers = known_graph().numbers(keys);
  std::vector<std::pair<Number, KnownGraph::Known>> decoded;
  for (size_t i = 0; i < vertices.size(); ++i) {
    paid_vertices_.insert(numbers[i]);
    decoded.push_back({numbers[i],
                       {.is_known = true,
                        .exists = true,
                        .json_bytes = static_cast<uint32_t>(vertices[i].bytes),
                        .vertex = vertices[i].vertex}});
  }
  if (!changes_vertices_) known_graph().put_vertices(moment_->number, decoded);
  return {};
}

Result<bool> EngineGraph::read_lists(std::span<const Number> vertices, bool is_out) {
  struct Found {
    Number number;
    std::vector<FoundEdge> edges = {};
    ReadCost cost{.entries = 1};
  };
  const std::vector<ElementKey> keys = known_graph().keys(vertices);
  std::unordered_map<ElementKey, Found, KeyHash> found;
  std::vector<ItemReader::Lookup::Asked> asked;
  std::unordered_set<std::string> ids;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!found.try_emplace(keys[i], Found{vertices[i]}).second) continue;
    const bool is_new_id = is_out || ids.insert(keys[i].id).second;
    if (!is_new_id) continue;
    asked.push_back(
        {value::Value::make_string(keys[i].id), is_out ? place(keys[i].partition) : std::string()});
  }
  ItemReader::Lookup lookup(reader_, is_out ? "_vertexId" : "_sink", std::move(asked));
  if (!lookup.is_possible()) return false;
  const auto age = terms_.items.age();
  std::unordered_set<uint64_t> seen;
  std::optional<Number> too_long;
  const auto take = [&](std::string_view json) -> Status {
    auto document = value::JsonDocument::parse(json);
    if (!document) return pass(document.error());
    if (!is_edge_item(document->root())) return {};
    const EdgePtr edge = edge_of(document->root(), form_);
    const auto at = found.find(is_out ? edge->out : edge->in);
    if (at == found.end()) return {};
    const uint64_t hash = KnownGraph::item_hash(place(edge->key.partition), edge->key.id);
    if (!seen.insert(hash).second) return {};
    Found& to = at->second;
    to.edges.push_back({is_out ? edge->in : edge->out, std::move(edge->label), age(json), hash});
    to.cost += ReadCost::of_item(json.size());
    ++to.cost.entries;
    if (to.edges.size() > KnownGraph::kListMax) too_long = to.number;
    return keep(kFoundEdgeBytes);
  };
  const ItemReader::Free free(reader_);
  while (!lookup.is_at_end() && !too_long) {
    if (auto read = lookup.next(kEdgesOfPage, take); !read) {
      if (read.error().code == Code::unsupported) return false;
      return pass(read.error());
    }
  }
  if (too_long) {
    known_graph().put_too_long(moment_->number, *too_long, is_out);
    return false;
  }
  auto& read = is_out ? read_out_ : read_in_;
  for (auto& [key, one] : found) {
    read[one.number] =
        known_graph().put_list(moment_->number, one.number, is_out, std::move(one.edges), one.cost);
  }
  return true;
}

Status EngineGraph::read_neighbourhoods(std::span<const Number> vertices) {
  std::unordered_set<std::string> placements;
  for (const ElementKey& key : known_graph().keys(vertices)) {
    if (scans_ == kScansMax) break;
    const std::string placement = place(key.partition);
    if (!placements.insert(placement).second) continue;
    if (!known_graph().is_worth_a_scan(placement)) continue;
    ++scans_;
    if (auto read = read_neighbourhood(placement); !read) return read;
  }
  return {};
}

// Edges lie with their source: the items of a partition key are the lists of all its vertices.
Status EngineGraph::read_neighbourhood(const std::string& placement) {
  struct Found {
    std::vector<FoundEdge> edges = {};
    ReadCost cost{.entries = 1};
    uint32_t json_bytes = 0;  // 0: there is no such vertex
  };
  std::unordered_map<ElementKey, Found, KeyHash> found;
  const auto age = terms_.items.age();
  const auto take = [&](std::string_view json) -> Status {
    auto document = value::JsonDocument::parse(json);
    if (!document) return pass(document.error());
    if (!is_edge_item(document->root())) {
      const VertexPtr vertex = vertex_of(document->root(), form_);
      found[vertex->key].json_bytes = static_cast<uint32_t>(json.size());
      return {};
    }
    const EdgePtr edge = edge_of(document->root(), form_);
    Found& from = found[edge->out];
    const uint64_t hash = KnownGraph::item_hash(placement, edge->key.id);
    from.edges.push_back({edge->in, std::move(edge->label), age(json), hash});
    from.cost += ReadCost::of_item(json.size());
    ++from.cost.entries;
    return {};
  };
  auto whole = reader_.scan(placement, kItemsOfScan, take);
  if (!whole) return pass(whole.error());
  if (!*whole) return {};
  std::vector<ElementKey> keys;
  for (const auto& [key, one] : found) keys.push_back(key);
  const std::vector<Number> numbers = known_graph().numbers(keys);
  std::vector<std::pair<Number, KnownGraph::Known>> vertices;
  for (size_t i = 0; i < keys.size(); ++i) {
    Found& one = found[keys[i]];
    if (one.json_bytes > 0) {
      vertices.push_back(
          {numbers[i], {.is_known = true, .exists = true, .json_bytes = one.json_bytes}});
    }
    if (one.edges.size() > KnownGraph::kListMax) continue;
    if (auto kept = keep(one.edges.size() * kFoundEdgeBytes); !kept) return kept;
    read_out_[numbers[i]] =
        known_graph().put_list(moment_->number, numbers[i], true, std::move(one.edges), one.cost);
  }
  known_graph().put_vertices(moment_->number, vertices);
  return {};
}

Result<bool> EngineGraph::fill_lists(std::span<const Number> vertices, bool is_out,
                                     std::vector<ListPtr>& lists) {
  auto& read = is_out ? read_out_ : read_in_;
  std::vector<Number> missing;
  const auto find = [&](size_t i) {
    if (lists[i]) return true;
    const auto at = read.find(vertices[i]);
    if (at != read.end()) lists[i] = at->second;
    return lists[i] != nullptr;
  };
  for (size_t i = 0; i < lists.size(); ++i) {
    if (!find(i)) missing.push_back(vertices[i]);
  }
  if (is_out && !missing.empty()) {
    if (auto scanned = read_neighbourhoods(missing); !scanned) return pass(scanned.error());
    std::erase_if(missing, [&](Number number) { return read.contains(number); });
  }
  for (size_t from = 0; from < missing.size(); from += kListsOfRead) {
    const size_t count = std::min(kListsOfRead, missing.size() - from);
    auto made = read_lists(std::span(missing).subspan(from, count), is_out);
    if (!made || !*made) return made;
  }
  for (size_t i = 0; i < lists.size(); ++i) find(i);
  return true;
}

Result<std::optional<EngineGraph::Lists>> EngineGraph::lists_of(std::span<const Number> vertices,
                                                                const HopFilter& hop) {
  Lists made{.out = {}, .in = {}, .labels = {}, .any_label = hop.labels.empty()};
  for (const bool is_out : {true, false}) {
    if (hop.way == (is_out ? Way::in : Way::out)) continue;
    std::vector<ListPtr>& lists = is_out ? made.out : made.in;
    lists = known_graph().lists(vertices, is_out);
    const bool are_short =
        std::ranges::none_of(lists, [](const auto& list) { return list && list->is_too_long; });
    if (!are_short) return std::nullopt;
    auto filled = fill_lists(vertices, is_out, lists);
    if (!filled) return pass(filled.error());
    if (!*filled) return std::nullopt;
  }
  if (!made.any_label) made.labels = known_graph().labels(hop.labels);
  if (auto charged = charge_lists(vertices, made); !charged) return pass(charged.error());
  if (auto current = terms_.engine.check_current(); !current) return pass(current.error());
  return made;
}

Status EngineGraph::charge_lists(std::span<const Number> vertices, const Lists& lists) {
  ReadCost cost;
  std::optional<Number> first;
  const auto add = [&](const std::vector<ListPtr>& side, NumberSet& paid) {
    for (size_t i = 0; i < side.size(); ++i) {
      if (!paid.insert(vertices[i])) continue;
      cost += side[i]->cost;
      if (!first) first = vertices[i];
    }
  };
  add(lists.out, paid_out_);
  add(lists.in, paid_in_);
  if (!first) return {};
  return reader_.charge(place(known_graph().keys(std::span(&*first, 1))[0].partition), cost);
}

}  // namespace orrery::gremlin
