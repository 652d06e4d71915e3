// Steps that write: addV, addE, property, drop. Each element is written by one request, with all
// the properties that are given to it in a row.
#include "api/gremlin/traversal/write_steps.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::gremlin {

Result<Given> given(Compiler& compiler, const Argument& argument) {
  Given made;
  if (argument.predicate) return fail(Code::invalid, "a predicate cannot be written");
  if (argument.chain) {
    auto child = compiler.child(*argument.chain);
    if (!child) return pass(child.error());
    made.traversal = std::move(*child);
  } else {
    made.value = argument.value;
  }
  return made;
}

Result<std::optional<Value>> Given::get(Run& run, const Traverser& traverser) const {
  if (!traversal) return value;
  auto found = traversal->first(run, traverser);
  if (!found) return pass(found.error());
  if (!*found) return std::nullopt;
  return std::move((*found)->value);
}

Result<std::vector<PropertySpec>> property_specs(Compiler& compiler,
                                                 const std::vector<const StepCall*>& calls) {
  std::vector<PropertySpec> specs;
  for (const StepCall* call : calls) {
    std::vector<Argument> arguments = call->arguments;
    PropertySpec spec;
    if (!arguments.empty() && arguments[0].is_token() &&
        arguments[0].value.string().starts_with("Cardinality.")) {
      spec.cardinality = arguments[0].value.string().substr(12);
      arguments.erase(arguments.begin());
    }
    if (arguments.size() == 1 && arguments[0].is_value() && arguments[0].value.is_map()) {
      for (const auto& [key, value] : arguments[0].value.members()) {
        PropertySpec one;
        one.cardinality = spec.cardinality;
        one.key.value = key;
        one.value.value = value;
        specs.push_back(std::move(one));
      }
      continue;
    }
    if (arguments.size() < 2 || arguments.size() % 2 != 0) {
      return fail(Code::invalid, fmt::format("{} takes a key and a value, and pairs of them behind",
                                             print(*call).substr(0, 200)));
    }
    auto key = given(compiler, arguments[0]);
    if (!key) return pass(key.error());
    spec.key = std::move(*key);
    auto value = given(compiler, arguments[1]);
    if (!value) return pass(value.error());
    spec.value = std::move(*value);
    for (size_t i = 2; i < arguments.size(); i += 2) {
      if (!arguments[i].is_text())
        return fail(Code::invalid, "the key of a meta-property is a text");
      auto meta = given(compiler, arguments[i + 1]);
      if (!meta) return pass(meta.error());
      spec.meta.emplace_back(arguments[i].value.string(), std::move(*meta));
    }
    specs.push_back(std::move(spec));
  }
  return specs;
}

namespace {

Status check_value(const std::string& key, const Value& value) {
  const bool fits = value.is_text() || value.is_number() || value.kind() == Kind::boolean;
  if (fits && !key.empty()) return {};
  return fail(Code::invalid,
              fmt::format("the property '{}' cannot be {}: values are texts, numbers and booleans",
                          key.substr(0, 100), value.print().substr(0, 100)));
}

// Without a cardinality a new value takes the place of the old one; the values that a new vertex is
// given at once are all kept.
void set_vertex_property(const VertexPtr& vertex, const std::string& cardinality, bool is_new,
                         std::shared_ptr<VertexProperty> property) {
  auto& all = vertex->properties;
  if (cardinality == "set") {
    for (const auto& there : all) {
      if (there->key == property->key && there->value == property->value) {
        for (auto& meta : property->meta) {
          std::erase_if(there->meta, [&](const auto& old) { return old.first == meta.first; });
          there->meta.push_back(std::move(meta));
        }
        return;
      }
    }
  } else if (cardinality != "list" && !(is_new && cardinality.empty())) {
    const auto first = std::ranges::find(all, property->key, &VertexProperty::key);
    if (first != all.end()) property->id = (*first)->id;
    std::erase_if(all, [&](const auto& there) { return there->key == property->key; });
  }
  property->owner = vertex;
  all.push_back(std::move(property));
}

}  // namespace

Status set_property(Run& run, const Traverser& traverser, const PropertySpec& spec,
                    const Value& element, bool is_new) {
  auto key = spec.key.get(run, traverser);
  if (!key) return pass(key.error());
  auto value = spec.value.get(run, traverser);
  if (!value) return pass(value.error());
  if (!*key || !*value) return {};
  std::string name = (*key)->print();
  if ((*key)->kind() == Kind::token) {
    name = (*key)->is_token("T.id") ? "id" : (*key)->is_token("T.label") ? "label" : "";
  }
  if (name == "id" || name == "label") {
    if (!is_new) {
      return fail(Code::invalid, fmt::format("the {} of an element cannot be changed", name));
    }
    const std::string text = id_text(**value);
    if (element.is_vertex())
      (name == "id" ? element.vertex()->key.id : element.vertex()->label) = text;
    if (element.is_edge()) (name == "id" ? element.edge()->key.id : element.edge()->label) = text;
    return {};
  }
  if ((*value)->is_null()) {  // a property without a value is none
    if (element.is_vertex()) {
      std::erase_if(element.vertex()->properties,
                    [&](const auto& one) { return one->key == name; });
    } else if (element.is_edge()) {
      std::erase_if(element.edge()->properties, [&](const auto& one) { return one.first == name; });
    }
    return {};
  }
  if (auto checked = check_value(name, **value); !checked) return checked;
  if (element.is_vertex()) {
    auto property = std::make_shared<VertexProperty>();
    property->key = name;
    property->value = std::move(**value);
    for (const auto& [meta_key, meta] : spec.meta) {
      auto meta_value = meta.get(run, traverser);
      if (!meta_value) return pass(meta_value.error());
      if (!*meta_value) continue;
      if (auto checked = check_value(meta_key, **meta_value); !checked) return checked;
      property->meta.emplace_back(meta_key, std::move(**meta_value));
    }
    set_vertex_property(element.vertex(), spec.cardinality, is_new, std::move(property));
    return {};
  }
  if (!spec.meta.empty() || (!spec.cardinality.empty() && spec.cardinality != "single")) {
    return fail(Code::invalid,
                "an edge has properties with one value and without properties of their own");
  }
  auto& all = element.is_edge() ? element.edge()->properties : element.vertex_property()->meta;
  const auto there = std::ranges::find(all, name, &std::pair<std::string, Value>::first);
  if (there == all.end()) {
    all.emplace_back(name, std::move(**value));
  } else {
    there->second = std::move(**value);
  }
  return {};
}

Status save_element(Run& run, const Value& element) {
  if (element.is_vertex()) return run.graph.save(element.vertex());
  if (element.is_edge()) return run.graph.save(element.edge());
  if (element.kind() == Kind::vertex_property) {
    if (const VertexPtr owner = element.vertex_property()->owner.lock())
      return run.graph.save(owner);
  }
  return fail(Code::invalid,
              "property() is for elements, and " + element.print().substr(0, 100) + " is none");
}

namespace {

class AddVertexStep final : public FlatStep {
 public:
  AddVertexStep(Given label, std::vector<PropertySpec> properties)
      : label_(std::move(label)), properties_(std::move(properties)) {}

 protected:
  Status apply(Run& run, Batch in, Batch& out) override {
    for (const Traverser& traverser : in) {
      for (uint64_t n = 0; n < traverser.bulk; ++n) {
        auto vertex = std::make_shared<Vertex>();
        auto label = label_.get(run, traverser);
        if (!label) return pass(label.error());
        if (!*label || !(*label)->is_text()) return fail(Code::invalid, "a label is a text");
        vertex->label = (*label)->string();
        const Value made = Value::of(vertex);
        for (const PropertySpec& property : properties_) {
          if (auto set = set_property(run, traverser, property, made, true); !set) return set;
        }
        if (auto added = run.graph.add(vertex); !added) return added;
        out.push_back(traverser.step_to(made));
        out.back().bulk = 1;
        if (auto checked = run.check(64); !checked) return checked;
      }
    }
    return {};
  }

 private:
  const Given label_;
  const std::vector<PropertySpec> properties_;
};

Result<StepPtr> make_add_vertex(Compiler& compiler, const Calls& calls) {
  Given label;
  label.value = Value::text("vertex");
  if (!calls.arguments().empty()) {
    auto made = given(compiler, calls.arguments()[0]);
    if (!made) return pass(made.error());
    label = std::move(*made);
  }
  auto properties = property_specs(compiler, calls.modifiers("property"));
  if (!properties) return pass(properties.error());
  return std::make_unique<AddVertexStep>(std::move(label), std::move(*properties));
}

class AddEdgeStep final : public FlatStep {
 public:
  AddEdgeStep(Given label, std::optional<EndSpec> from, std::optional<EndSpec> to,
              std::vector<PropertySpec> properties)
      : label_(std::move(label)),
        from_(std::move(from)),
        to_(std::move(to)),
        properties_(std::move(properties)) {}

 protected:
  Status apply(Run& run, Batch in, Batch& out) override {
    for (const Traverser& traverser : in) {
      for (uint64_t n = 0; n < traverser.bulk; ++n) {
        auto edge = std::make_shared<Edge>();
        auto label = label_.get(run, traverser);
        if (!label) return pass(label.error());
        if (!*label || !(*label)->is_text()) return fail(Code::invalid, "a label is a text");
        edge->label = (*label)->string();
        auto from = end_vertex(run, traverser, from_, "from");
        if (!from) return pass(from.error());
        auto to = end_vertex(run, traverser, to_, "to");
        if (!to) return pass(to.error());
        connect(*edge, **from, **to);
        const Value made = Value::of(edge);
        for (const PropertySpec& property : properties_) {
          if (auto set = set_property(run, traverser, property, made, true); !set) return set;
        }
        if (auto added = run.graph.add(edge); !added) return added;
        out.push_back(traverser.step_to(made));
        out.back().bulk = 1;
        if (auto checked = run.check(64); !checked) return checked;
      }
    }
    return {};
  }

 private:
  const Given label_;
  const std::optional<EndSpec> from_;
  const std::optional<EndSpec> to_;
  const std::vector<PropertySpec> properties_;
};

Result<StepPtr> make_add_edge(Compiler& compiler, const Calls& calls) {
  auto label = given(compiler, calls.arguments()[0]);
  if (!label) return pass(label.error());
  auto from = end_spec(compiler, calls, "from");
  if (!from) return pass(from.error());
  auto to = end_spec(compiler, calls, "to");
  if (!to) return pass(to.error());
  auto properties = property_specs(compiler, calls.modifiers("property"));
  if (!properties) return pass(properties.error());
  return std::make_unique<AddEdgeStep>(std::move(*label), std::move(*from), std::move(*to),
                                       std::move(*properties));
}

class PropertyStep final : public FlatStep {
 public:
  explicit PropertyStep(std::vector<PropertySpec> properties)
      : properties_(std::move(properties)) {}

 protected:
  Status apply(Run& run, Batch in, Batch& out) override {
    for (Traverser& traverser : in) {
      if (!traverser.value.is_element()) return save_element(run, traverser.value);
      for (const PropertySpec& property : properties_) {
        if (auto set = set_property(run, traverser, property, traverser.value, false); !set)
          return set;
      }
      if (auto saved = save_element(run, traverser.value); !saved) return saved;
      if (auto checked = run.check(64); !checked) return checked;
      out.push_back(std::move(traverser));
    }
    return {};
  }

 private:
  const std::vector<PropertySpec> properties_;
};

Result<StepPtr> make_property(Compiler& compiler, const Calls& calls) {
  std::vector<const StepCall*> all{&calls.call};
  std::ranges::copy(calls.modifiers("property"), std::back_inserter(all));
  auto properties = property_specs(compiler, all);
  if (!properties) return pass(properties.error());
  return std::make_unique<PropertyStep>(std::move(*properties));
}

// All that is to go is gathered first: what a traversal still reads is not removed under it.
class DropStep final : public BarrierStep {
 public:
  void reset() override { BarrierStep::reset(), all_.clear(); }

 protected:
  Status take(Run& run, Batch batch) override {
    if (auto kept = run.keep(batch); !kept) return kept;
    std::ranges::move(batch, std::back_inserter(all_));
    return {};
  }
  Status give(Run& run, Batch&) override {
    for (const Traverser& traverser : all_) {
      if (auto dropped = drop(run, traverser.value); !dropped) return dropped;
      if (auto checked = run.check(64); !checked) return checked;
    }
    all_.clear();
    return {};
  }

 private:
  static Status drop(Run& run, const Value& what) {
    if (what.is_vertex()) return run.graph.drop(what.vertex());
    if (what.is_edge()) return run.graph.drop(what.edge());
    if (what.kind() == Kind::vertex_property) {
      const VertexPtr owner = what.vertex_property()->owner.lock();
      if (!owner || owner->dropped) return {};
      std::erase(owner->properties, what.vertex_property());
      return run.graph.save(owner);
    }
    if (what.kind() == Kind::property) {
      const Value& owner = what.property()->owner;
      auto& all = owner.is_edge() ? owner.edge()->properties : owner.vertex_property()->meta;
      std::erase_if(all, [&](const auto& one) { return one.first == what.property()->key; });
      return save_element(run, owner);
    }
    return fail(Code::invalid, "drop() is for elements and properties, and " +
                                   what.print().substr(0, 100) + " is neither");
  }
  Batch all_;
};

Result<StepPtr> make_drop(Compiler&, const Calls&) {
  return std::make_unique<DropStep>();
}

}  // namespace

Result<std::optional<EndSpec>> end_spec(Compiler& compiler, const Calls& calls,
                                        std::string_view name) {
  const auto found = calls.modifiers(name);
  if (found.empty()) return std::nullopt;
  const Argument& argument = found.back()->arguments[0];
  EndSpec spec;
  if (argument.is_text()) {
    spec.label = argument.value.string();
    return spec;
  }
  auto end = given(compiler, argument);
  if (!end) return pass(end.error());
  spec.end = std::move(*end);
  return spec;
}

Result<VertexPtr> end_vertex(Run& run, const Traverser& traverser,
                             const std::optional<EndSpec>& spec, std::string_view name) {
  std::optional<Value> value = traverser.value;
  if (spec && !spec->label.empty()) {
    auto found = scope_value(run, traverser, spec->label, Pop::last);
    if (!found) return pass(found.error());
    value = std::move(*found);
  } else if (spec) {
    auto found = spec->end.get(run, traverser);
    if (!found) return pass(found.error());
    value = std::move(*found);
  }
  if (value && value->is_vertex()) return value->vertex();
  return fail(Code::invalid, fmt::format("the {}() of an edge is a vertex, and {} is none{}", name,
                                         value ? value->print().substr(0, 100) : "what was found",
                                         value ? "" : ": there is nothing"));
}

void connect(Edge& edge, const Vertex& from, const Vertex& to) {
  edge.out = from.key;
  edge.out_label = from.label;
  edge.in = to.key;
  edge.in_label = to.label;
  edge.key.partition = from.key.partition;
}

Maker find_write_step(std::string_view name) {
  if (name == "addV") return make_add_vertex;
  if (name == "addE") return make_add_edge;
  if (name == "property") return make_property;
  if (name == "drop") return make_drop;
  return nullptr;
}

}  // namespace orrery::gremlin
