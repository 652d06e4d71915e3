// mergeV and mergeE: find what a map describes, or make it.
#include <fmt/format.h>

#include <algorithm>

#include "api/gremlin/traversal/write_steps.h"

namespace orrery::gremlin {
namespace {

struct MergeSpec {
  std::optional<Given> match;  // nothing: what comes in
  std::optional<Given> on_create;
  std::optional<Given> on_match;
  // What Merge.outV and Merge.inV stand for: a vertex, or a map that finds one.
  std::optional<Given> out;
  std::optional<Given> in;
};

Result<Value::Map> map_of(Run& run, const Traverser& traverser,
                          const std::optional<Given>& given_map) {
  std::optional<Value> value = traverser.value;
  if (given_map) {
    auto got = given_map->get(run, traverser);
    if (!got) return pass(got.error());
    value = std::move(*got);
  }
  if (!value || !value->is_map()) {
    return fail(Code::invalid,
                "mergeV() and mergeE() take maps, as [(T.label): 'person', name: 'marko']");
  }
  return value->members();
}

const Value* find(const Value::Map& map, std::string_view token, std::string_view name) {
  for (const auto& [key, value] : map) {
    if (key.is_token(token) || (key.is_text() && key.string() == name)) return &value;
  }
  return nullptr;
}

std::shared_ptr<const Predicate> equal_to(const Value& value) {
  auto made = std::make_shared<Predicate>();
  made->op = "eq";
  made->values.push_back(value);
  return made;
}

ElementFilter filter_of(const Value::Map& map) {
  ElementFilter filter;
  for (const auto& [key, value] : map) {
    if (key.is_token("T.id") || (key.is_text() && key.string() == "id")) {
      filter.conditions.push_back({Condition::Of::id, "", equal_to(Value::text(id_text(value)))});
    } else if (key.is_token("T.label") || (key.is_text() && key.string() == "label")) {
      filter.conditions.push_back({Condition::Of::label, "", equal_to(value)});
    } else if (key.is_text()) {
      filter.conditions.push_back({Condition::Of::property, key.string(), equal_to(value)});
    }
  }
  return filter;
}

Status set_all(Run& run, const Traverser& traverser, const Value::Map& map, const Value& element,
               bool is_new) {
  for (const auto& [key, value] : map) {
    if (key.kind() == Kind::token && !key.string().starts_with("T.")) continue;  // ends of an edge
    PropertySpec spec;
    spec.key.value = key;
    spec.value.value = value;
    if (auto set = set_property(run, traverser, spec, element, is_new); !set) return set;
  }
  return {};
}

class MergeStep final : public FlatStep {
 public:
  MergeStep(bool edges, MergeSpec spec, std::vector<PropertySpec> properties)
      : edges_(edges), spec_(std::move(spec)), properties_(std::move(properties)) {}

 protected:
  Status apply(Run& run, Batch in, Batch& out) override {
    for (const Traverser& traverser : in) {
      auto map = map_of(run, traverser, spec_.match);
      if (!map) return pass(map.error());
      auto found = edges_ ? find_edges(run, traverser, *map) : find_vertices(run, *map);
      if (!found) return pass(found.error());
      if (found->empty()) {
        auto made = edges_ ? make_edge(run, traverser, *map) : make_vertex(run, traverser, *map);
        if (!made) return pass(made.error());
        found->push_back(std::move(*made));
      } else if (spec_.on_match || !properties_.empty()) {
        for (const Value& element : *found) {
          if (spec_.on_match) {
            auto changes = map_of(run, traverser, spec_.on_match);
            if (!changes) return pass(changes.error());
            if (auto set = set_all(run, traverser, *changes, element, false); !set) return set;
          }
          for (const PropertySpec& property : properties_) {
            if (auto set = set_property(run, traverser, property, element, false); !set) return set;
          }
          if (auto saved = save_element(run, element); !saved) return saved;
        }
      }
      for (Value& element : *found) out.push_back(traverser.step_to(std::move(element)));
    }
    return {};
  }

 private:
  static Result<std::vector<Value>> matching(std::unique_ptr<ElementCursor> cursor,
                                             const ElementFilter& filter) {
    std::vector<Value> found;
    while (true) {
      auto some = cursor->next(64);
      if (!some) return some;
      if (some->empty()) return found;
      for (Value& element : *some) {
        if (std::ranges::all_of(filter.conditions,
                                [&](const Condition& one) { return matches(one, element); })) {
          found.push_back(std::move(element));
        }
      }
    }
  }

  static Result<std::vector<Value>> find_vertices(Run& run, const Value::Map& map) {
    const ElementFilter filter = filter_of(map);
    auto cursor = run.graph.find_vertices(filter);
    if (!cursor) return pass(cursor.error());
    return matching(std::move(*cursor), filter);
  }

  Result<Value> make_vertex(Run& run, const Traverser& traverser, const Value::Map& map) const {
    auto vertex = std::make_shared<Vertex>();
    vertex->label = "vertex";
    const Value made = Value::of(vertex);
    if (auto filled = fill(run, traverser, map, made); !filled) return pass(filled.error());
    if (auto added = run.graph.add(vertex); !added) return pass(added.error());
    return made;
  }

  Status fill(Run& run, const Traverser& traverser, const Value::Map& map,
              const Value& made) const {
    if (auto set = set_all(run, traverser, map, made, true); !set) return set;
    if (spec_.on_create) {
      auto more = map_of(run, traverser, spec_.on_create);
      if (!more) return pass(more.error());
      if (auto set = set_all(run, traverser, *more, made, true); !set) return set;
    }
    for (const PropertySpec& property : properties_) {
      if (auto set = set_property(run, traverser, property, made, true); !set) return set;
    }
    return {};
  }

  // What option(Merge.outV, …) or option(Merge.inV, …) gives.
  Result<Value> referred_end(Run& run, const Traverser& traverser, const Value& token) const {
    const std::optional<Given>& option = token.is_token("Merge.outV") ? spec_.out : spec_.in;
    if (!option) {
      return fail(Code::invalid, fmt::format("mergeE() names {0}, and there is no option({0}, …)",
                                             token.string()));
    }
    auto got = option->get(run, traverser);
    if (!got) return pass(got.error());
    if (*got && ((*got)->is_vertex() || (*got)->is_map())) return std::move(**got);
    return fail(Code::invalid, fmt::format("option({}, …) gives neither a vertex nor a map for one",
                                           token.string()));
  }

  static Result<VertexPtr> vertex_by_map(Run& run, const Value::Map& map) {
    auto found = find_vertices(run, map);
    if (!found) return pass(found.error());
    if (found->empty()) {
      return fail(Code::not_found,
                  "mergeE() finds no vertex " + Value::map(map).print().substr(0, 100));
    }
    return found->front().vertex();
  }

  // An end of an edge: a vertex, the id of one, or what an option says.
  Result<VertexPtr> end_of(Run& run, const Traverser& traverser, const Value::Map& map,
                           std::string_view token) const {
    const Value* end = find(map, token, "");
    Value::Map more;
    if (end == nullptr && spec_.on_create) {
      auto created = map_of(run, traverser, spec_.on_create);
      if (!created) return pass(created.error());
      more = std::move(*created);
      end = find(more, token, "");
    }
    if (end == nullptr) return traverser.value.is_vertex() ? traverser.value.vertex() : nullptr;
    Value referred;
    if (end->is_token("Merge.outV") || end->is_token("Merge.inV")) {
      auto found = referred_end(run, traverser, *end);
      if (!found) return pass(found.error());
      referred = std::move(*found);
      end = &referred;
    }
    if (end->is_map()) return vertex_by_map(run, end->members());
    if (end->is_vertex() && !end->vertex()->version.empty()) return end->vertex();
    ElementFilter filter;
    filter.by_id = true;
    filter.ids.push_back(end->is_list() ? *end : Value::text(id_text(*end)));
    auto cursor = run.graph.find_vertices(filter);
    if (!cursor) return pass(cursor.error());
    auto found = (*cursor)->next(1);
    if (!found) return pass(found.error());
    if (found->empty()) {
      return fail(Code::not_found,
                  fmt::format("mergeE() finds no vertex {}", end->print().substr(0, 100)));
    }
    return found->front().vertex();
  }

  Result<std::vector<Value>> find_edges(Run& run, const Traverser& traverser,
                                        const Value::Map& map) const {
    ElementFilter filter = filter_of(map);
    auto from = end_of(run, traverser, map, "Direction.OUT");
    if (!from) return pass(from.error());
    auto to = end_of(run, traverser, map, "Direction.IN");
    if (!to) return pass(to.error());
    std::vector<Value> found;
    if (!*from) {
      auto cursor = run.graph.find_edges(filter);
      if (!cursor) return pass(cursor.error());
      return matching(std::move(*cursor), filter);
    }
    auto cursor = run.graph.edges_of({*from}, {Way::out, {}, filter.conditions});
    if (!cursor) return pass(cursor.error());
    auto edges = all_edges(**cursor);
    if (!edges) return pass(edges.error());
    for (const EdgePtr& edge : *edges) {
      const Value value = Value::of(edge);
      if (*to && !(edge->in == (*to)->key)) continue;
      if (std::ranges::all_of(filter.conditions,
                              [&](const Condition& each) { return matches(each, value); })) {
        found.push_back(value);
      }
    }
    return found;
  }

  Result<Value> make_edge(Run& run, const Traverser& traverser, const Value::Map& map) const {
    auto from = end_of(run, traverser, map, "Direction.OUT");
    if (!from) return pass(from.error());
    auto to = end_of(run, traverser, map, "Direction.IN");
    if (!to) return pass(to.error());
    if (!*from || !*to) {
      return fail(Code::invalid,
                  "mergeE() makes an edge only when its map has Direction.OUT and Direction.IN");
    }
    auto edge = std::make_shared<Edge>();
    edge->label = "edge";
    connect(*edge, **from, **to);
    const Value made = Value::of(edge);
    if (auto filled = fill(run, traverser, map, made); !filled) return pass(filled.error());
    if (auto added = run.graph.add(edge); !added) return pass(added.error());
    return made;
  }

  const bool edges_;
  const MergeSpec spec_;
  const std::vector<PropertySpec> properties_;
};

Result<StepPtr> make_merge(Compiler& compiler, const Calls& calls) {
  MergeSpec spec;
  if (!calls.arguments().empty()) {
    auto match = given(compiler, calls.arguments()[0]);
    if (!match) return pass(match.error());
    spec.match = std::move(*match);
  }
  for (const StepCall* option : calls.modifiers("option")) {
    if (option->arguments.size() != 2 || !option->arguments[0].is_token())
      return bad_arguments(calls);
    auto map = given(compiler, option->arguments[1]);
    if (!map) return pass(map.error());
    const std::string& when = option->arguments[0].value.string();
    if (when == "Merge.onCreate") {
      spec.on_create = std::move(*map);
    } else if (when == "Merge.onMatch") {
      spec.on_match = std::move(*map);
    } else if (when == "Merge.outV") {
      spec.out = std::move(*map);
    } else if (when == "Merge.inV") {
      spec.in = std::move(*map);
    } else {
      return fail(Code::unsupported, when + " is not supported");
    }
  }
  auto properties = property_specs(compiler, calls.modifiers("property"));
  if (!properties) return pass(properties.error());
  return std::make_unique<MergeStep>(calls.call.name == "mergeE", std::move(spec),
                                     std::move(*properties));
}

}  // namespace

Maker find_merge_step(std::string_view name) {
  return name == "mergeV" || name == "mergeE" ? make_merge : nullptr;
}

}  // namespace orrery::gremlin
