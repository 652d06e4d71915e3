// Reading: queries, hops, lookups. engine_graph_write.cc has the writes. See engine_graph.h.
#include "api/gremlin/graph/engine_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "api/gremlin/graph/item.h"
#include "api/gremlin/graph/item_query.h"
#include "base/await.h"
#include "prices/request_units.h"
#include "query/bind/bind.h"
#include "query/parse/parser.h"

namespace orrery::gremlin {
namespace {

constexpr size_t kIdsOfQuery = 512;
constexpr size_t kRowsOfPage = 1000;

value::KeyPart key_part(const Value& value) {
  value::KeyPart part;
  switch (value.kind()) {
    case Kind::boolean:
      part.type = value::Type::boolean;
      part.boolean = value.as_bool();
      break;
    case Kind::int32:
    case Kind::int64:
    case Kind::float32:
    case Kind::float64:
      part.type = value::Type::number;
      part.number = value.as_number();
      break;
    case Kind::text:
      part.type = value::Type::string;
      part.text = value.string();
      break;
    default:
      break;
  }
  return part;
}

// A key that is not there cannot be in a list.
void add_partitions(ItemFilter& filter, std::span<const Value> partitions, std::string_view name) {
  if (std::ranges::none_of(partitions, &Value::is_null)) filter.add_id_list(partitions, name);
}

}  // namespace

// A query over the container, page by page.
class EngineGraph::Query {
 public:
  Query(EngineGraph& graph, std::string text, const std::vector<Value>& parameters)
      : graph_(graph), text_(std::move(text)) {
    for (size_t i = 0; i < parameters.size(); ++i) {
      parameters_.emplace(fmt::format("@p{}", i), query_value(parameters[i]));
    }
  }

  // Null at the end.
  Result<const StringList*> next(size_t rows) {
    if (ended_) return nullptr;
    if (!bound_) {
      if (auto prepared = prepare(); !prepared) return pass(prepared.error());
    }
    query::PageLimits limits;
    limits.rows = std::clamp<size_t>(rows, 1, kRowsOfPage);
    limits.bytes = graph_.terms_.engine.limits().response_bytes;
    limits.position_bytes = 1 << 20;
    limits.stop = [this] { return !graph_.check(); };
    limits.free_steps = 1000;
    limits.made = graph_.terms_.items.age();
    cluster::ContainerQuery query(graph_.terms_.engine, graph_.routing_, *parsed_, parameters_,
                                  bounds_, graph_.terms_.remote);
    if (query.partitions() > 1) limits.helpers = graph_.terms_.helpers;
    context_.budget.start({.stop = limits.stop,
                           .free_steps = limits.free_steps,
                           .bytes = query::kEvaluationBytesMax});
    auto ran =
        query.run(*bound_, at_ ? &*at_ : nullptr, {}, partition::Reach::files, limits, context_);
    if (!ran) {
      if (auto over = graph_.check(); !over) return pass(over.error());
      return pass(ran.error());
    }
    rows_ = std::move(ran->page.rows);
    ran->receipt.charge = prices::query_charge({.items = ran->page.read.items,
                                                .bytes = ran->page.read.bytes,
                                                .entries_read = ran->page.read.entries,
                                                .bytes_returned = rows_.bytes(),
                                                .bytes_asked = text_.size()});
    query.pay(ran->receipt);
    graph_.spent_.charge += ran->receipt.charge;
    ++graph_.spent_.queries;
    graph_.spent_.items += ran->page.read.items;
    graph_.spent_.entries += ran->page.read.entries;
    at_ = std::move(ran->page.next);
    ended_ = !at_;
    if (rows_.empty()) {
      if (auto over = graph_.check(); !over) return pass(over.error());
    }
    return &rows_;
  }

 private:
  Status prepare() {
    auto parsed = query::parse_query(text_);
    if (!parsed) return fail(Code::internal, "a query of a traversal: " + parsed.error().message);
    parsed_ = std::make_unique<query::Query>(std::move(*parsed));
    context_.now_ticks = graph_.terms_.clock.now_s() * 10'000'000;
    auto bound = query::bind_query(*parsed_, parameters_, {}, nullptr, {}, &context_);
    if (!bound) return fail(Code::internal, "a query of a traversal: " + bound.error().message);
    bound_ = std::move(*bound);
    return {};
  }

  EngineGraph& graph_;
  const std::string text_;
  query::Parameters parameters_;
  std::unique_ptr<query::Query> parsed_;
  std::shared_ptr<const query::BoundQuery> bound_;
  query::Context context_;
  const cluster::KeyBounds bounds_;
  std::optional<query::Position> at_;
  bool ended_ = false;
  StringList rows_;
};

class EngineGraph::Cursor final : public ElementCursor {
 public:
  Cursor(EngineGraph& graph, std::unique_ptr<Query> query)
      : graph_(graph), query_(std::move(query)) {}
  Result<std::vector<Value>> next(size_t want) override {
    std::vector<Value> found;
    while (found.empty()) {
      auto rows = query_->next(want);
      if (!rows) return pass(rows.error());
      if (*rows == nullptr) break;
      for (const std::string_view row : **rows) {
        auto element = graph_.element_of(row);
        if (!element) return pass(element.error());
        found.push_back(std::move(*element));
      }
    }
    return found;
  }

 private:
  EngineGraph& graph_;
  std::unique_ptr<Query> query_;
};

// What was found already.
class EngineGraph::ListCursor final : public ElementCursor {
 public:
  explicit ListCursor(std::vector<Value> found) : found_(std::move(found)) {}
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

Status EngineGraph::check() {
  if (terms_.clock.steady_us() > terms_.until_us) {
    timed_out_ = true;
    return fail(Code::overloaded, "the traversal has taken longer than it may");
  }
  if (!terms_.is_wanted()) return fail(Code::overloaded, "the client has gone");
  return {};
}

Status EngineGraph::keep(size_t bytes) {
  kept_ += bytes;
  if (kept_ <= terms_.memory_max) return {};
  return fail(Code::too_large,
              fmt::format("the elements that the traversal has read need more than the {} bytes of "
                          "memory that it may have: narrow it",
                          terms_.memory_max));
}

std::unique_ptr<EngineGraph::Query> EngineGraph::query(std::string text,
                                                       std::vector<Value> parameters) {
  return std::make_unique<Query>(*this, std::move(text), parameters);
}

Result<Value> EngineGraph::element_of(std::string_view json) {
  auto document = value::JsonDocument::parse(json);
  if (!document) return pass(document.error());
  if (is_edge_item(document->root())) {
    EdgePtr edge = edge_of(document->root(), key_name_);
    auto& known = known_edges_[edge->key];
    if (!known) {
      known = std::move(edge);
      if (auto kept = keep(3 * json.size() + 256); !kept) return pass(kept.error());
    }
    return Value::of(known);
  }
  VertexPtr vertex = vertex_of(document->root(), key_name_);
  auto& known = known_vertices_[vertex->key];
  if (!known) {
    known = std::move(vertex);
    if (auto kept = keep(3 * json.size() + 256); !kept) return pass(kept.error());
  }
  return Value::of(known);
}

std::string EngineGraph::place(const Value& partition) const {
  return value::place(routing_->container->spec.key, {key_part(partition)});
}

Result<Value> EngineGraph::read(const ElementKey& key) {
  auto reply = await<Result<cluster::ReadReply>>([&](auto done) {
    terms_.engine.read(routing_, place(key.partition), key.id, {}, std::move(done));
  });
  if (!reply) return pass(reply.error());
  if (!*reply) return pass(reply->error());
  ++spent_.reads;
  spent_.charge += (*reply)->receipt.charge;
  if (!(*reply)->item) return Value();
  return element_of((*reply)->item->body);
}

Result<std::unique_ptr<ElementCursor>> EngineGraph::find_vertices(const ElementFilter& filter) {
  return find(filter, false);
}

Result<std::unique_ptr<ElementCursor>> EngineGraph::find_edges(const ElementFilter& filter) {
  return find(filter, true);
}

Result<std::unique_ptr<ElementCursor>> EngineGraph::find(const ElementFilter& filter, bool edges) {
  if (!filter.by_id) {
    ItemFilter made(key_name_, edges);
    for (const Condition& condition : filter.conditions) made.add(condition);
    auto [text, parameters] = std::move(made).finish();
    return std::make_unique<Cursor>(*this, query(std::move(text), std::move(parameters)));
  }
  std::vector<Value> found;
  std::vector<Value> ids;
  std::set<std::string> seen;
  const auto take = [&](const Value& element) {
    if (element.is_null() || element.is_edge() != edges) return;
    found.push_back(element);
  };
  for (const Value& id : filter.ids) {
    if (!id.is_list()) {
      if (seen.insert(id.print()).second) ids.push_back(Value::text(id.print()));
      continue;
    }
    const Value& partition = id.elements()[0];
    const std::string row = id.elements()[1].print();
    if (!partition.is_null()) {
      auto element = read({row, partition});
      if (!element) return pass(element.error());
      if (!element->is_null() && element->is_edge() == edges) {
        found.push_back(std::move(*element));
        continue;
      }
      // A list of two ids looks the same as a partition key and an id.
      if (seen.insert(partition.print()).second) ids.push_back(Value::text(partition.print()));
    }
    if (seen.insert(row).second) ids.push_back(Value::text(row));
  }
  for (size_t from = 0; from < ids.size(); from += kIdsOfQuery) {
    ItemFilter made(key_name_, edges);
    made.add_id_list(std::span(ids).subspan(from, std::min(kIdsOfQuery, ids.size() - from)), "id");
    for (const Condition& condition : filter.conditions) made.add(condition);
    auto [text, parameters] = std::move(made).finish();
    auto asked = query(std::move(text), std::move(parameters));
    while (true) {
      auto rows = asked->next(kRowsOfPage);
      if (!rows) return pass(rows.error());
      if (*rows == nullptr) break;
      for (const std::string_view row : **rows) {
        auto element = element_of(row);
        if (!element) return pass(element.error());
        take(*element);
      }
    }
  }
  return std::make_unique<ListCursor>(std::move(found));
}

Result<std::vector<std::vector<EdgePtr>>> EngineGraph::edges_of(
    std::span<const VertexPtr> vertices, Way way, const std::vector<std::string>& labels) {
  std::vector<std::vector<EdgePtr>> found(vertices.size());
  std::unordered_map<ElementKey, std::vector<EdgePtr>, KeyHash> by_vertex;
  std::vector<ElementKey> keys;
  for (const VertexPtr& vertex : vertices) {
    if (by_vertex.try_emplace(vertex->key).second) keys.push_back(vertex->key);
  }
  for (const bool out : {true, false}) {
    if (way == (out ? Way::in : Way::out)) continue;
    for (auto& [key, edges] : by_vertex) edges.clear();
    for (size_t from = 0; from < keys.size(); from += kIdsOfQuery) {
      const auto some = std::span(keys).subspan(from, std::min(kIdsOfQuery, keys.size() - from));
      std::vector<Value> ids, partitions;
      for (const ElementKey& key : some) {
        ids.push_back(Value::text(key.id));
        if (std::ranges::find(partitions, key.partition) == partitions.end()) {
          partitions.push_back(key.partition);
        }
      }
      ItemFilter filter(key_name_, true);
      filter.add_id_list(ids, out ? "_vertexId" : "_sink");
      if (out) add_partitions(filter, partitions, key_name_);
      if (!labels.empty()) filter.add_labels(labels);
      auto [text, parameters] = std::move(filter).finish();
      auto asked = query(std::move(text), std::move(parameters));
      while (true) {
        auto rows = asked->next(kRowsOfPage);
        if (!rows) return pass(rows.error());
        if (*rows == nullptr) break;
        for (const std::string_view row : **rows) {
          auto element = element_of(row);
          if (!element) return pass(element.error());
          if (!element->is_edge()) continue;
          EdgePtr edge = element->edge();
          if (edge->dropped) continue;
          const auto at = by_vertex.find(out ? edge->out : edge->in);
          if (at != by_vertex.end()) at->second.push_back(std::move(edge));
        }
      }
    }
    for (size_t i = 0; i < vertices.size(); ++i) {
      const auto& edges = by_vertex[vertices[i]->key];
      found[i].insert(found[i].end(), edges.begin(), edges.end());
    }
  }
  return found;
}

Result<std::vector<VertexPtr>> EngineGraph::vertices(std::span<const ElementKey> keys) {
  std::vector<VertexPtr> found(keys.size());
  std::vector<ElementKey> missing;
  for (const ElementKey& key : keys) {
    if (!known_vertices_.contains(key) && std::ranges::find(missing, key) == missing.end()) {
      missing.push_back(key);
    }
  }
  if (missing.size() == 1) {
    if (auto one = read(missing[0]); !one) return pass(one.error());
  } else {
    for (size_t from = 0; from < missing.size(); from += kIdsOfQuery) {
      std::vector<Value> ids, partitions;
      for (size_t i = from; i < std::min(from + kIdsOfQuery, missing.size()); ++i) {
        ids.push_back(Value::text(missing[i].id));
        if (std::ranges::find(partitions, missing[i].partition) == partitions.end()) {
          partitions.push_back(missing[i].partition);
        }
      }
      ItemFilter filter(key_name_, false);
      filter.add_id_list(ids, "id");
      add_partitions(filter, partitions, key_name_);
      auto [text, parameters] = std::move(filter).finish();
      auto asked = query(std::move(text), std::move(parameters));
      while (true) {
        auto rows = asked->next(kRowsOfPage);
        if (!rows) return pass(rows.error());
        if (*rows == nullptr) break;
        for (const std::string_view row : **rows) {
          if (auto element = element_of(row); !element) return pass(element.error());
        }
      }
    }
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto known = known_vertices_.find(keys[i]);
    if (known != known_vertices_.end() && !known->second->dropped) found[i] = known->second;
  }
  return found;
}

}  // namespace orrery::gremlin
