// Finding elements. engine_graph_hops.cc has the hops, engine_graph_write.cc the writes. See
// engine_graph.h.
#include "api/gremlin/graph/engine_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <unordered_set>

#include "api/gremlin/graph/item.h"
#include "value/json.h"

namespace orrery::gremlin {
namespace {

bool is_dropped(const Value& element) {
  return element.is_edge() ? element.edge()->dropped : element.vertex()->dropped;
}

const std::string& id_of(const Value& element) {
  return element.is_edge() ? element.as_edge().key.id : element.as_vertex().key.id;
}

const void* address_of(const Value& element) {
  return element.is_edge() ? static_cast<const void*>(element.edge().get())
                           : static_cast<const void*>(element.vertex().get());
}

}  // namespace

// What a query gives, and then what the traversal had staged when it began and the query has not
// given.
class EngineGraph::FoundByQuery final : public ElementCursor {
 public:
  FoundByQuery(EngineGraph& graph, ItemFilter filter, bool edges)
      : graph_(graph), query_(graph.reader_, std::move(filter)), edges_(edges) {
    staged_ = graph.staged_.elements(edges);
    for (const Value& element : staged_) not_given_.insert(address_of(element));
  }
  Result<std::vector<Value>> next(size_t want) override {
    std::vector<Value> found;
    while (found.empty()) {
      auto rows = query_.next(want);
      if (!rows) return pass(rows.error());
      if (*rows == nullptr) break;
      for (const std::string_view row : **rows) {
        auto element = graph_.element_of(row);
        if (!element) return pass(element.error());
        not_given_.erase(address_of(*element));
        if (element->is_edge() != edges_ || is_dropped(*element)) continue;
        found.push_back(std::move(*element));
      }
    }
    if (!found.empty()) return found;
    for (Value& element : std::exchange(staged_, {})) {
      if (not_given_.contains(address_of(element)) && !is_dropped(element)) {
        found.push_back(std::move(element));
      }
    }
    return found;
  }

 private:
  EngineGraph& graph_;
  ItemReader::Query query_;
  const bool edges_;
  std::vector<Value> staged_;
  std::unordered_set<const void*> not_given_;
};

// What the index has for one value, when nothing is staged.
class EngineGraph::FoundByLookup final : public ElementCursor {
 public:
  FoundByLookup(EngineGraph& graph, ItemReader::Lookup lookup, ItemFilter filter, bool edges)
      : graph_(graph), lookup_(std::move(lookup)), filter_(std::move(filter)), edges_(edges) {}
  Result<std::vector<Value>> next(size_t want) override {
    std::vector<Value> found;
    const auto take = [&](std::string_view json) -> Status {
      auto element = graph_.element_of(json);
      if (!element) return pass(element.error());
      const bool is_new = given_.insert(address_of(*element)).second;
      if (is_new && element->is_edge() == edges_) found.push_back(std::move(*element));
      return {};
    };
    while (found.empty() && !query_ && !lookup_.is_at_end()) {
      auto read = lookup_.next(std::clamp<size_t>(want, kFirstMin, kRowsOfPage), take);
      if (read) continue;
      if (read.error().code != Code::unsupported) return pass(read.error());
      // The items are being indexed.
      query_ = std::make_unique<ItemReader::Query>(graph_.reader_, std::move(filter_));
    }
    while (found.empty() && query_) {
      auto rows = query_->next(want);
      if (!rows) return pass(rows.error());
      if (*rows == nullptr) break;
      for (const std::string_view row : **rows) {
        if (auto taken = take(row); !taken) return pass(taken.error());
      }
    }
    return found;
  }

 private:
  static constexpr size_t kFirstMin = 16;

  EngineGraph& graph_;
  ItemReader::Lookup lookup_;
  ItemFilter filter_;
  const bool edges_;
  std::unique_ptr<ItemReader::Query> query_;  // once the lookup could not tell
  std::unordered_set<const void*> given_;
};

// What was found already.
class EngineGraph::FoundList final : public ElementCursor {
 public:
  explicit FoundList(std::vector<Value> found) : found_(std::move(found)) {}
  Result<std::vector<Value>> next(size_t /*want*/) override { return std::exchange(found_, {}); }

 private:
  std::vector<Value> found_;
};

Result<std::unique_ptr<EngineGraph>> EngineGraph::open(GraphTerms terms,
                                                       cluster::RoutingPtr routing) {
  const value::KeyDefinition& key = routing->container->spec.key;
  if (key.paths.size() != 1 || key.paths[0].steps.size() != 1) {
    return fail(Code::invalid,
                "this container cannot be a graph: it needs a partition key of one property at the "
                "top of its items");
  }
  std::string name = key.paths[0].steps[0].name;
  if (name == "id" || name == "label") {
    return fail(Code::invalid,
                fmt::format("this container cannot be a graph: it is partitioned by /{}", name));
  }
  return std::unique_ptr<EngineGraph>(
      new EngineGraph(std::move(terms), std::move(routing), std::move(name)));
}

Status EngineGraph::show_system_properties(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (std::ranges::find(kShowable, name) == std::end(kShowable)) {
      return fail(Code::unsupported,
                  fmt::format("{} cannot be shown: _ts, _etag, _rid and _self can", name));
    }
    form_.shown.push_back(name);
  }
  return {};
}

StoreWork EngineGraph::work() const {
  StoreWork work = reader_.spent();
  work.charge += written_.charge;
  work.writes = written_.stored;
  return work;
}

Status EngineGraph::keep(size_t bytes) {
  kept_ += bytes;
  return check_room(0);
}

Status EngineGraph::check_room(size_t bytes) const {
  if (kept_ + bytes <= terms_.memory_max) return {};
  return fail(Code::too_large,
              fmt::format("the elements that the traversal has read need more than the {} bytes of "
                          "memory that it may have: narrow it",
                          terms_.memory_max));
}

Result<Value> EngineGraph::element_of(std::string_view json) {
  auto document = value::JsonDocument::parse(json);
  if (!document) return pass(document.error());
  if (is_edge_item(document->root())) {
    EdgePtr edge = edge_of(document->root(), form_);
    auto& known = known_edges_[edge->key];
    if (!known) {
      known = std::move(edge);
      if (auto kept = keep(3 * json.size() + 256); !kept) return pass(kept.error());
    }
    return Value::of(known);
  }
  VertexPtr vertex = vertex_of(document->root(), form_);
  auto& known = known_vertices_[vertex->key];
  if (!known) {
    known = std::move(vertex);
    if (!writes_) paid_keys_.push_back(known->key);
    if (auto kept = keep(3 * json.size() + 256); !kept) return pass(kept.error());
  }
  return Value::of(known);
}

std::string EngineGraph::place(const Value& partition) const {
  return place_of(reader_.routing(), partition);
}

Status EngineGraph::load(const std::vector<ElementKey>& keys) {
  std::vector<ItemReader::Key> asked;
  asked.reserve(keys.size());
  for (const ElementKey& key : keys) asked.push_back({place(key.partition), key.id});
  return reader_.fetch(std::move(asked), [&](std::string_view json) -> Status {
    if (auto element = element_of(json); !element) return pass(element.error());
    return {};
  });
}

Status EngineGraph::read_all(ItemFilter filter, const ItemReader::Take& take) {
  ItemReader::Query query(reader_, std::move(filter));
  while (true) {
    auto rows = query.next(kRowsOfPage);
    if (!rows) return pass(rows.error());
    if (*rows == nullptr) return {};
    for (const std::string_view row : **rows) {
      if (auto taken = take(row); !taken) return taken;
    }
  }
}

Result<std::unique_ptr<ElementCursor>> EngineGraph::find_vertices(const ElementFilter& filter) {
  return find(filter, false);
}

Result<std::unique_ptr<ElementCursor>> EngineGraph::find_edges(const ElementFilter& filter) {
  return find(filter, true);
}

Result<std::unique_ptr<ElementCursor>> EngineGraph::find(const ElementFilter& filter, bool edges) {
  if (filter.by_id) {
    auto found = find_by_id(filter, edges);
    if (!found) return pass(found.error());
    return std::make_unique<FoundList>(std::move(*found));
  }
  ItemFilter made(form_.key_name, edges);
  for (const Condition& condition : filter.conditions) made.add(condition);
  // One value needs no plan.
  if (filter.conditions.size() == 1 && staged_.empty()) {
    if (auto one = one_value_of(filter.conditions[0], form_.key_name, edges)) {
      ItemReader::Lookup lookup(reader_, std::move(one->path), {{std::move(one->value), ""}});
      if (lookup.is_possible()) {
        return std::make_unique<FoundByLookup>(*this, std::move(lookup), std::move(made), edges);
      }
    }
  }
  return std::make_unique<FoundByQuery>(*this, std::move(made), edges);
}

Result<std::set<std::string>> EngineGraph::take_pairs(
    const ElementFilter& filter, bool edges, const std::function<void(const Value&)>& take) {
  // A partition key and an id: known after this, or not there.
  std::vector<ElementKey> missing;
  const auto is_known = [&](const ElementKey& key) {
    return known_vertices_.contains(key) || known_edges_.contains(key);
  };
  for (const Value& id : filter.ids) {
    if (!id.is_list() || id.elements()[0].is_null()) continue;
    ElementKey key{id.elements()[1].print(), id.elements()[0]};
    if (!is_known(key)) missing.push_back(std::move(key));
  }
  if (auto loaded = load(missing); !loaded) return pass(loaded.error());

  std::set<std::string> ids;
  for (const Value& id : filter.ids) {
    if (!id.is_list()) {
      ids.insert(id.print());
      continue;
    }
    const ElementKey key{id.elements()[1].print(), id.elements()[0]};
    const auto vertex = known_vertices_.find(key);
    const auto edge = known_edges_.find(key);
    if (!edges && vertex != known_vertices_.end()) {
      take(Value::of(vertex->second));
    } else if (edges && edge != known_edges_.end()) {
      take(Value::of(edge->second));
    } else {
      // A list of two ids looks the same as a partition key and an id.
      if (!key.partition.is_null()) ids.insert(key.partition.print());
      ids.insert(key.id);
    }
  }
  return ids;
}

Result<std::vector<Value>> EngineGraph::find_by_id(const ElementFilter& filter, bool edges) {
  std::vector<Value> found;
  std::unordered_set<const void*> given;
  const auto take = [&](const Value& element) {
    if (element.is_edge() != edges || is_dropped(element)) return;
    if (given.insert(address_of(element)).second) found.push_back(element);
  };
  auto others = take_pairs(filter, edges, take);
  if (!others) return pass(others.error());
  const std::set<std::string>& ids = *others;
  if (ids.empty()) return found;
  const std::vector<Value> staged = staged_.elements(edges);
  const auto take_staged = [&] {
    for (const Value& element : staged) {
      const ElementKey& key = edges ? element.edge()->key : element.vertex()->key;
      if (ids.contains(key.id)) take(element);
    }
  };
  const bool is_one = ids.size() == 1 && !edges && filter.conditions.empty() && has_cache();
  if (is_one) {
    auto known = find_known_id(*ids.begin(), take);
    if (!known) return pass(known.error());
    if (*known) {
      take_staged();
      return found;
    }
  }
  std::optional<ItemReader::Free> free;
  if (is_one) free.emplace(reader_);
  std::vector<FoundVertex> read_vertices;
  ItemFilter made(form_.key_name, edges);
  Value::List values;
  for (const std::string& id : ids) values.push_back(Value::text(id));
  made.add_list("id", std::move(values));
  for (const Condition& condition : filter.conditions) made.add(condition);
  const auto take_item = [&](std::string_view json) -> Status {
    auto element = element_of(json);
    if (!element) return pass(element.error());
    if (is_one && element->is_vertex() && ids.contains(element->as_vertex().key.id)) {
      read_vertices.push_back({element->vertex(), json.size()});
    }
    if (!is_one || ids.contains(id_of(*element))) take(*element);
    return {};
  };
  Status read = is_one ? look_up_id(*ids.begin(), take_item)
                       : Status(fail(Code::unsupported, "they are several"));
  if (!read && read.error().code == Code::unsupported) {
    read_vertices.clear();
    read = read_all(std::move(made), take_item);
  }
  if (!read) return pass(read.error());
  if (is_one) {
    free.reset();
    if (auto charged = remember_id(*ids.begin(), read_vertices); !charged) {
      return pass(charged.error());
    }
  }
  take_staged();
  return found;
}

Result<std::optional<uint64_t>> EngineGraph::count(const ElementFilter& filter, bool edges) {
  if (filter.by_id || !staged_.empty()) return std::nullopt;
  ItemFilter made(form_.key_name, edges);
  for (const Condition& condition : filter.conditions) made.add(condition);
  if (!made.count_only()) return std::nullopt;
  uint64_t sum = 0;
  auto read = read_all(std::move(made), [&](std::string_view row) -> Status {
    double count = 0;
    const auto [end, failed] = std::from_chars(row.data(), row.data() + row.size(), count);
    if (failed != std::errc()) return fail(Code::internal, "a count is no number");
    sum += static_cast<uint64_t>(count);
    return {};
  });
  if (!read) return pass(read.error());
  return sum;
}

Result<std::vector<VertexPtr>> EngineGraph::vertices(std::span<const ElementKey> keys) {
  std::vector<ElementKey> missing;
  std::unordered_set<ElementKey, KeyHash> seen;
  for (const ElementKey& key : keys) {
    if (!known_vertices_.contains(key) && seen.insert(key).second) missing.push_back(key);
  }
  if (auto loaded = load(missing); !loaded) return pass(loaded.error());
  std::vector<VertexPtr> found(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto known = known_vertices_.find(keys[i]);
    if (known != known_vertices_.end() && !known->second->dropped) found[i] = known->second;
  }
  return found;
}

}  // namespace orrery::gremlin
