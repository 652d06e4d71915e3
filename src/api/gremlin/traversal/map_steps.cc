// Steps that turn each traverser into one or several others: values of elements, select, project,
// path, unfold.
#include <fmt/format.h>

#include <algorithm>

#include "api/gremlin/traversal/compile.h"
#include "api/gremlin/traversal/math.h"
#include "api/gremlin/traversal/scopes.h"

namespace orrery::gremlin {
namespace {

class FunctionStep final : public MapStep {
 public:
  using Function = std::function<Result<std::optional<Value>>(Run&, const Traverser&)>;
  explicit FunctionStep(Function function) : function_(std::move(function)) {}

 protected:
  Result<std::optional<Value>> map(Run& run, const Traverser& traverser) override {
    return function_(run, traverser);
  }

 private:
  const Function function_;
};

StepPtr mapping(FunctionStep::Function function) {
  return std::make_unique<FunctionStep>(std::move(function));
}

// Several values for each.
class FunctionFlatStep final : public FlatStep {
 public:
  using Function = std::function<Result<std::vector<Value>>(Run&, const Traverser&)>;
  explicit FunctionFlatStep(Function function) : function_(std::move(function)) {}

 protected:
  Status apply(Run& run, Batch in, Batch& out) override {
    for (const Traverser& traverser : in) {
      auto values = function_(run, traverser);
      if (!values) return pass(values.error());
      for (Value& value : *values) out.push_back(traverser.step_to(std::move(value)));
    }
    return {};
  }

 private:
  const Function function_;
};

StepPtr flat_mapping(FunctionFlatStep::Function function) {
  return std::make_unique<FunctionFlatStep>(std::move(function));
}

bool is_asked(const std::vector<std::string>& keys, const std::string& key) {
  return keys.empty() || std::ranges::find(keys, key) != keys.end();
}

std::unexpected<Error> not_an_element(const std::string& step, const Value& value) {
  return fail(Code::invalid, fmt::format("{}() is for elements, and {} is none", step,
                                         value.print().substr(0, 100)));
}

// The properties of an element with these keys, as properties.
std::vector<Value> properties_of(const Value& element, const std::vector<std::string>& keys) {
  std::vector<Value> made;
  const auto add = [&](const std::string& key, const Value& value) {
    if (is_asked(keys, key)) {
      made.push_back(Value::of(std::make_shared<Property>(Property{key, value, element})));
    }
  };
  if (element.is_vertex()) {
    for (const auto& property : element.vertex()->properties) {
      if (is_asked(keys, property->key)) made.push_back(Value::of(property));
    }
  } else if (element.is_edge()) {
    for (const auto& [key, value] : element.edge()->properties) add(key, value);
  } else if (element.kind() == Kind::vertex_property) {
    for (const auto& [key, value] : element.vertex_property()->meta) add(key, value);
  }
  return made;
}

Value value_of(const Value& property) {
  return property.kind() == Kind::property ? property.property()->value
                                           : property.vertex_property()->value;
}
const std::string& key_of(const Value& property) {
  return property.kind() == Kind::property ? property.property()->key
                                           : property.vertex_property()->key;
}

Result<StepPtr> make_properties(Compiler&, const Calls& calls) {
  auto keys = texts(calls);
  if (!keys) return pass(keys.error());
  const bool values = calls.call.name == "values";
  return flat_mapping([=, keys = *keys, name = calls.call.name](
                          Run&, const Traverser& traverser) -> Result<std::vector<Value>> {
    if (!traverser.value.is_element()) return not_an_element(name, traverser.value);
    auto made = properties_of(traverser.value, keys);
    if (values) {
      for (Value& property : made) property = value_of(property);
    }
    return made;
  });
}

// valueMap and propertyMap
Result<StepPtr> make_value_map(Compiler& compiler, const Calls& calls) {
  int64_t tokens = 0;
  size_t from = 0;
  if (!calls.arguments().empty() && calls.arguments()[0].is_value() &&
      calls.arguments()[0].value.kind() == Kind::boolean) {
    tokens = calls.arguments()[0].value.as_bool() ? 15 : 0;
    from = 1;
  }
  auto keys = texts(calls, from);
  if (!keys) return pass(keys.error());
  for (const StepCall* with : calls.modifiers("with")) {
    if (!with->arguments[0].is_text() ||
        with->arguments[0].value.string() != "~tinkerpop.valueMap.tokens") {
      return fail(Code::unsupported, print(*with) + " is not supported");
    }
    tokens = with->arguments.size() < 2 ? 15 : with->arguments[1].value.as_integer();
  }
  auto by = compiler.modulators(calls);
  if (!by) return pass(by.error());
  const bool values = calls.call.name == "valueMap";
  return mapping([=, keys = *keys, by = *by, name = calls.call.name](
                     Run& run, const Traverser& traverser) -> Result<std::optional<Value>> {
    const Value& element = traverser.value;
    if (!element.is_element()) return not_an_element(name, element);
    Value::Map made;
    if ((tokens & 1) != 0) made.emplace_back(Value::token("T.id"), *token_value(element, "T.id"));
    if ((tokens & 2) != 0)
      made.emplace_back(Value::token("T.label"), *token_value(element, "T.label"));
    if (element.kind() == Kind::vertex_property && (tokens & 8) != 0) {
      made.emplace_back(Value::token("T.value"), *token_value(element, "T.value"));
    }
    const size_t first = made.size();
    for (const Value& property : properties_of(element, keys)) {
      const Value key = Value::text(key_of(property));
      const Value value = values ? value_of(property) : property;
      if (!element.is_vertex()) {
        made.emplace_back(key, value);
        continue;
      }
      const auto there = std::ranges::find(made, key, &std::pair<Value, Value>::first);
      if (there == made.end()) {
        made.emplace_back(key, Value::list({value}));
      } else {
        Value::List more = there->second.elements();
        more.push_back(value);
        there->second = Value::list(std::move(more));
      }
    }
    if (!by.empty()) {
      for (size_t i = first; i < made.size(); ++i) {
        auto value = modulate(run, by, i - first, run.fresh(made[i].second));
        if (!value) return pass(value.error());
        made[i].second = std::move(*value);
      }
    }
    return Value::map(std::move(made));
  });
}

Value end_map(const ElementKey& key, const std::string& label) {
  return Value::map(
      {{Value::token("T.id"), Value::text(key.id)}, {Value::token("T.label"), Value::text(label)}});
}

Result<StepPtr> make_element_map(Compiler&, const Calls& calls) {
  auto keys = texts(calls);
  if (!keys) return pass(keys.error());
  return mapping([keys = *keys](Run&, const Traverser& traverser) -> Result<std::optional<Value>> {
    const Value& element = traverser.value;
    if (!element.is_element()) return not_an_element("elementMap", element);
    Value::Map made;
    made.emplace_back(Value::token("T.id"), *token_value(element, "T.id"));
    made.emplace_back(Value::token("T.label"), *token_value(element, "T.label"));
    if (element.is_edge()) {
      const Edge& edge = *element.edge();
      made.emplace_back(Value::token("Direction.IN"), end_map(edge.in, edge.in_label));
      made.emplace_back(Value::token("Direction.OUT"), end_map(edge.out, edge.out_label));
    }
    if (element.kind() == Kind::vertex_property) {
      made.emplace_back(Value::token("T.key"), *token_value(element, "T.key"));
      made.emplace_back(Value::token("T.value"), *token_value(element, "T.value"));
    }
    for (const Value& property : properties_of(element, keys)) {
      const Value key = Value::text(key_of(property));
      if (std::ranges::find(made, key, &std::pair<Value, Value>::first) == made.end()) {
        made.emplace_back(key, value_of(property));
      }
    }
    return Value::map(std::move(made));
  });
}

// id, label, key, value
Result<StepPtr> make_token(Compiler&, const Calls& calls) {
  return mapping([token = "T." + calls.call.name, name = calls.call.name](
                     Run&, const Traverser& traverser) -> Result<std::optional<Value>> {
    auto value = token_value(traverser.value, token);
    if (!value) return not_an_element(name, traverser.value);
    return value;
  });
}

Result<StepPtr> make_constant(Compiler&, const Calls& calls) {
  if (!calls.arguments()[0].is_value()) return bad_arguments(calls);
  return mapping([value = calls.arguments()[0].value](
                     Run&, const Traverser&) -> Result<std::optional<Value>> { return value; });
}

class IdentityStep final : public FlatStep {
 protected:
  Status apply(Run&, Batch in, Batch& out) override {
    std::ranges::move(in, std::back_inserter(out));
    return {};
  }
};
Result<StepPtr> make_identity(Compiler&, const Calls&) {
  return std::make_unique<IdentityStep>();
}

Pop pop_of(const Argument& argument) {
  const std::string name = argument.is_token() ? argument.value.string() : "";
  return name == "Pop.first"   ? Pop::first
         : name == "Pop.last"  ? Pop::last
         : name == "Pop.all"   ? Pop::all
         : name == "Pop.mixed" ? Pop::mixed
                               : Pop::unsaid;
}

Result<StepPtr> make_select(Compiler& compiler, const Calls& calls) {
  auto by = compiler.modulators(calls);
  if (!by) return pass(by.error());
  const auto& arguments = calls.arguments();
  if (arguments[0].is_token() && arguments[0].value.string().starts_with("Column.")) {
    Modulator column;
    column.kind = Modulator::Kind::column;
    column.name = arguments[0].value.string();
    return mapping([=](Run& run, const Traverser& traverser) -> Result<std::optional<Value>> {
      if (traverser.value.kind() == Kind::path) {
        const auto path = traverser.value.path();
        if (column.name == "Column.values") return Value::list(path->objects);
        Value::List labels;
        for (const auto& some : path->labels) {
          Value::List names;
          for (const std::string& label : some) names.push_back(Value::text(label));
          labels.push_back(Value::list(std::move(names), Kind::set));
        }
        return Value::list(std::move(labels));
      }
      return column.find(run, traverser);
    });
  }
  const Pop pop = pop_of(arguments[0]);
  const size_t from = pop == Pop::unsaid ? 0 : 1;
  if (arguments.size() == from + 1 && arguments[from].chain) {  // the key is what a traversal gives
    auto child = compiler.child(arguments[from], "select");
    if (!child) return pass(child.error());
    std::shared_ptr<Traversal> key = std::move(*child);
    return mapping(
        [=, by = *by](Run& run, const Traverser& traverser) -> Result<std::optional<Value>> {
          auto found = key->first(run, traverser);
          if (!found) return pass(found.error());
          if (!*found) return std::nullopt;
          const Value& name = (*found)->value;
          std::optional<Value> value;
          if (const Value* member = traverser.value.find(name)) {
            value = *member;
          } else if (name.is_text()) {
            auto scoped = scope_value(run, traverser, name.string(), pop);
            if (!scoped) return scoped;
            value = std::move(*scoped);
          }
          if (!value) return std::nullopt;
          auto modulated = modulate(run, by, 0, run.fresh(std::move(*value)));
          if (!modulated) return pass(modulated.error());
          return std::move(*modulated);
        });
  }
  auto keys = texts(calls, from);
  if (!keys) return pass(keys.error());
  return mapping([=, keys = *keys, by = *by](
                     Run& run, const Traverser& traverser) -> Result<std::optional<Value>> {
    Value::Map made;
    for (size_t i = 0; i < keys.size(); ++i) {
      auto value = scope_value(run, traverser, keys[i], pop);
      if (!value) return value;
      if (!*value) return std::nullopt;
      Traverser at = traverser.with(std::move(**value));
      auto modulated = modulate(run, by, i, at);
      if (!modulated) return pass(modulated.error());
      if (keys.size() == 1) return std::move(*modulated);
      made.emplace_back(Value::text(keys[i]), std::move(*modulated));
    }
    return Value::map(std::move(made));
  });
}

Result<StepPtr> make_project(Compiler& compiler, const Calls& calls) {
  auto by = compiler.modulators(calls);
  if (!by) return pass(by.error());
  auto keys = texts(calls);
  if (!keys) return pass(keys.error());
  return mapping([keys = *keys, by = *by](
                     Run& run, const Traverser& traverser) -> Result<std::optional<Value>> {
    Value::Map made;
    for (size_t i = 0; i < keys.size(); ++i) {
      auto value = modulate(run, by, i, traverser);
      if (!value) return pass(value.error());
      made.emplace_back(Value::text(keys[i]), std::move(*value));
    }
    return Value::map(std::move(made));
  });
}

Result<StepPtr> make_path(Compiler& compiler, const Calls& calls) {
  auto by = compiler.modulators(calls);
  if (!by) return pass(by.error());
  const auto label = [&](std::string_view name) -> std::string {
    const auto found = calls.modifiers(name);
    return found.empty() || !found[0]->arguments[0].is_text()
               ? ""
               : found[0]->arguments[0].value.string();
  };
  return mapping([by = *by, from = label("from"), to = label("to")](
                     Run& run, const Traverser& traverser) -> Result<std::optional<Value>> {
    const auto path = traverser.path_value();
    size_t first = 0, last = path->objects.size();
    for (size_t i = 0; i < path->objects.size(); ++i) {
      const auto has = [&](const std::string& name) {
        return std::ranges::find(path->labels[i], name) != path->labels[i].end();
      };
      if (!from.empty() && has(from)) first = i;
      if (!to.empty() && has(to)) last = i + 1;
    }
    auto made = std::make_shared<PathValue>();
    for (size_t i = first; i < last; ++i) {
      auto value = modulate(run, by, i - first, run.fresh(path->objects[i]));
      if (!value) return pass(value.error());
      made->objects.push_back(std::move(*value));
      made->labels.push_back(path->labels[i]);
    }
    return Value::of(std::shared_ptr<const PathValue>(std::move(made)));
  });
}

Result<StepPtr> make_unfold(Compiler&, const Calls&) {
  return flat_mapping([](Run&, const Traverser& traverser) -> Result<std::vector<Value>> {
    if (auto elements = collection_of(traverser.value)) return std::move(*elements);
    if (traverser.value.kind() == Kind::entry) return std::vector{traverser.value};
    return std::vector{traverser.value};
  });
}

// map(traversal): the first result; flatMap(traversal): all.
Result<StepPtr> make_map(Compiler& compiler, const Calls& calls) {
  auto made = compiler.child(calls.arguments()[0], calls.call.name);
  if (!made) return pass(made.error());
  std::shared_ptr<Traversal> child = std::move(*made);
  if (calls.call.name == "map") {
    return mapping([=](Run& run, const Traverser& traverser) -> Result<std::optional<Value>> {
      auto found = child->first(run, traverser);
      if (!found) return pass(found.error());
      if (!*found) return std::nullopt;
      return std::move((*found)->value);
    });
  }
  return flat_mapping([=](Run& run, const Traverser& traverser) -> Result<std::vector<Value>> {
    Traverser one = traverser;
    one.bulk = 1;
    auto found = child->all(run, one);
    if (!found) return pass(found.error());
    std::vector<Value> values;
    for (const Traverser& each : *found) values.insert(values.end(), each.bulk, each.value);
    return values;
  });
}

Result<StepPtr> make_loops(Compiler&, const Calls& calls) {
  const std::string name = calls.arguments().empty() ? "" : calls.arguments()[0].value.print();
  return mapping([=](Run&, const Traverser& traverser) -> Result<std::optional<Value>> {
    for (const Loop* loop = traverser.loop.get(); loop != nullptr; loop = loop->outer.get()) {
      if (name.empty() || loop->name == name) return Value::integer(loop->count);
    }
    if (name.empty()) return Value::integer(0);
    return fail(Code::invalid, fmt::format("there is no repeat() of the name '{}' here", name));
  });
}

Result<StepPtr> make_math(Compiler& compiler, const Calls& calls) {
  if (!calls.arguments()[0].is_text()) return bad_arguments(calls);
  auto by = compiler.modulators(calls);
  if (!by) return pass(by.error());
  const std::string text = calls.arguments()[0].value.string();
  auto names = math_variables(text);
  if (!names) return pass(names.error());
  return mapping([=, by = *by, names = *names](
                     Run& run, const Traverser& traverser) -> Result<std::optional<Value>> {
    std::vector<double> numbers;
    for (size_t i = 0; i < names.size(); ++i) {
      Traverser at = traverser;
      if (names[i] != "_") {
        auto value = scope_value(run, traverser, names[i]);
        if (!value) return value;
        if (!*value) {
          return fail(Code::invalid, fmt::format("math() has no value for '{}'", names[i]));
        }
        at = traverser.with(std::move(**value));
      }
      auto value = modulate(run, by, i, at);
      if (!value) return pass(value.error());
      if (!value->is_number()) {
        return fail(Code::invalid, fmt::format("math() takes numbers, and {} is none",
                                               value->print().substr(0, 100)));
      }
      numbers.push_back(value->as_number());
    }
    auto result = evaluate_math(text, [&](std::string_view name) {
      return numbers[static_cast<size_t>(std::ranges::find(names, name) - names.begin())];
    });
    if (!result) return pass(result.error());
    return Value::real(*result);
  });
}

Result<StepPtr> make_index(Compiler&, const Calls& calls) {
  bool as_map = false;
  for (const StepCall* with : calls.modifiers("with")) {
    if (with->arguments.size() == 2 && with->arguments[1].value.is_integer()) {
      as_map = with->arguments[1].value.as_integer() == 1;
    }
  }
  return mapping([=](Run&, const Traverser& traverser) -> Result<std::optional<Value>> {
    auto elements = collection_of(traverser.value).value_or(std::vector{traverser.value});
    Value::List pairs;
    Value::Map members;
    for (size_t i = 0; i < elements.size(); ++i) {
      const Value number = Value::integer(static_cast<int64_t>(i));
      if (as_map) {
        members.emplace_back(number, elements[i]);
      } else {
        pairs.push_back(Value::list({elements[i], number}));
      }
    }
    return as_map ? Value::map(std::move(members)) : Value::list(std::move(pairs));
  });
}

}  // namespace

Maker find_map_step(std::string_view name) {
  if (name == "values" || name == "properties") return make_properties;
  if (name == "valueMap" || name == "propertyMap") return make_value_map;
  if (name == "elementMap") return make_element_map;
  if (name == "id" || name == "label" || name == "key" || name == "value") return make_token;
  if (name == "constant") return make_constant;
  if (name == "identity") return make_identity;
  if (name == "select") return make_select;
  if (name == "project") return make_project;
  if (name == "path") return make_path;
  if (name == "unfold") return make_unfold;
  if (name == "map" || name == "flatMap") return make_map;
  if (name == "loops") return make_loops;
  if (name == "math") return make_math;
  if (name == "index") return make_index;
  return nullptr;
}

}  // namespace orrery::gremlin
