// Steps that let traversers through or not.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "api/gremlin/traversal/compile.h"
#include "api/gremlin/value/number_set.h"
#include "api/gremlin/value/value_index.h"

namespace orrery::gremlin {
namespace {

using ValueSet = std::unordered_set<Value, Value::Hash>;

class HasStep final : public FilterStep {
 public:
  explicit HasStep(std::vector<Condition> conditions) : conditions_(std::move(conditions)) {}

 protected:
  Result<bool> test(Run&, Traverser& traverser) override {
    return std::ranges::all_of(conditions_,
                               [&](const Condition& one) { return matches(one, traverser.value); });
  }

 private:
  const std::vector<Condition> conditions_;
};

// Any function of a traverser.
class TestStep final : public FilterStep {
 public:
  using Function = std::function<Result<bool>(Run&, Traverser&)>;
  explicit TestStep(Function function) : function_(std::move(function)) {}

 protected:
  Result<bool> test(Run& run, Traverser& traverser) override { return function_(run, traverser); }

 private:
  const Function function_;
};

StepPtr filter(TestStep::Function function) {
  return std::make_unique<TestStep>(std::move(function));
}

// A child's start: its own, or where its as('a') says; and whether its end is where as('b') says.
Result<bool> has_match(Run& run, Traversal& child, const Traverser& traverser) {
  Traverser start = traverser;
  if (!child.start_label.empty()) {
    auto from = scope_value(run, traverser, child.start_label);
    if (!from) return pass(from.error());
    if (!*from) return false;
    start = traverser.with(std::move(**from));
  }
  if (child.end_label.empty()) return child.has_any(run, start);
  auto wanted = scope_value(run, traverser, child.end_label);
  if (!wanted) return pass(wanted.error());
  if (!*wanted) return false;
  auto ends = child.all(run, start);
  if (!ends) return pass(ends.error());
  return std::ranges::any_of(*ends, [&](const Traverser& end) { return end.value == **wanted; });
}

Result<StepPtr> make_has(Compiler& compiler, const Calls& calls) {
  auto conditions = conditions_of(calls.call);
  if (!conditions) return pass(conditions.error());
  if (*conditions) return std::make_unique<HasStep>(std::move(**conditions));
  // has(key, traversal): of the values of the property; or has(T.key, …) of a property.
  const auto& arguments = calls.arguments();
  const Argument& key = arguments[0];
  if (arguments.size() == 2 && arguments[1].chain && (key.is_text() || key.is_token())) {
    auto child = compiler.condition(arguments[1], "has");
    if (!child) return pass(child.error());
    std::shared_ptr<Traversal> traversal = std::move(*child);
    const std::string name = key.value.string();
    const bool is_token = key.is_token();
    return filter([=](Run& run, const Traverser& traverser) -> Result<bool> {
      std::vector<Value> values;
      if (!is_token) {
        values = property_values(traverser.value, name);
      } else if (auto value = token_value(traverser.value, name)) {
        values.push_back(std::move(*value));
      }
      for (const Value& value : values) {
        auto passes = traversal->has_any(run, traverser.with(value));
        if (!passes || *passes) return passes;
      }
      return false;
    });
  }
  if (arguments.size() == 2 && key.is_token()) {
    const std::string name = key.value.string();
    const auto predicate = as_predicate(arguments[1]);
    return filter([=](Run&, const Traverser& traverser) -> Result<bool> {
      const auto value = token_value(traverser.value, name);
      return value && test(*predicate, *value);
    });
  }
  return bad_arguments(calls);
}

Result<StepPtr> make_has_not(Compiler& compiler, const Calls& calls) {
  const Argument& key = calls.arguments()[0];
  if (!key.is_text()) return bad_arguments(calls);
  (void)compiler;
  const std::string name = key.value.string();
  return filter([=](Run&, const Traverser& traverser) -> Result<bool> {
    return property_values(traverser.value, name).empty();
  });
}

// hasKey, hasValue: of properties.
Result<StepPtr> make_has_part(Compiler&, const Calls& calls) {
  const std::string token = calls.call.name == "hasKey" ? "T.key" : "T.value";
  std::vector<std::shared_ptr<const Predicate>> any;
  for (const Argument& argument : calls.arguments()) {
    if (argument.chain) return bad_arguments(calls);
    any.push_back(as_predicate(argument));
  }
  return filter([=](Run&, const Traverser& traverser) -> Result<bool> {
    const auto value = token_value(traverser.value, token);
    return value && std::ranges::any_of(
                        any, [&](const auto& predicate) { return test(*predicate, *value); });
  });
}

Result<StepPtr> make_is(Compiler&, const Calls& calls) {
  if (calls.arguments()[0].chain) return bad_arguments(calls);
  const auto predicate = as_predicate(calls.arguments()[0]);
  return filter([=](Run&, const Traverser& traverser) -> Result<bool> {
    return test(*predicate, traverser.value);
  });
}

Result<StepPtr> make_not(Compiler& compiler, const Calls& calls) {
  auto made = compiler.condition(calls.arguments()[0], "not");
  if (!made) return pass(made.error());
  std::shared_ptr<Traversal> child = std::move(*made);
  return filter([=](Run& run, const Traverser& traverser) -> Result<bool> {
    auto found = has_match(run, *child, traverser);
    if (!found) return found;
    return !*found;
  });
}

Result<StepPtr> make_and_or(Compiler& compiler, const Calls& calls) {
  std::vector<std::shared_ptr<Traversal>> children;
  for (const Argument& argument : calls.arguments()) {
    auto child = compiler.condition(argument, calls.call.name);
    if (!child) return pass(child.error());
    children.push_back(std::move(*child));
  }
  const bool is_or = calls.call.name == "or";
  return filter([=](Run& run, const Traverser& traverser) -> Result<bool> {
    for (const auto& child : children) {
      auto found = has_match(run, *child, traverser);
      if (!found) return found;
      if (*found == is_or) return is_or;
    }
    return !is_or || children.empty();
  });
}

// The names in a predicate replaced by what they mean; a single name of a list means its elements.
Result<std::shared_ptr<const Predicate>> resolve(Run& run, const Predicate& predicate,
                                                 const Traverser& traverser,
                                                 const std::vector<Modulator>& by, size_t& turn,
                                                 bool& found) {
  auto made = std::make_shared<Predicate>();
  made->op = predicate.op;
  for (const Value& name : predicate.values) {
    if (!name.is_text()) {
      return fail(Code::invalid, "where() compares with what a label names, and " +
                                     name.print().substr(0, 100) + " is none");
    }
    auto value = scope_value(run, traverser, name.string());
    if (!value) return pass(value.error());
    if (!*value) {
      found = false;
      return made;
    }
    if ((predicate.op == "within" || predicate.op == "without") && predicate.values.size() == 1 &&
        (*value)->is_list()) {
      made->values = (*value)->elements();
      continue;
    }
    auto modulated = modulate(run, by, turn++, run.fresh(std::move(**value)));
    if (!modulated) return pass(modulated.error());
    made->values.push_back(std::move(*modulated));
  }
  for (const auto& part : predicate.parts) {
    auto resolved = resolve(run, *part, traverser, by, turn, found);
    if (!resolved) return resolved;
    made->parts.push_back(std::move(*resolved));
  }
  return made;
}

Result<StepPtr> make_where(Compiler& compiler, const Calls& calls) {
  const auto& arguments = calls.arguments();
  if (arguments.size() == 1 && arguments[0].chain) {
    auto made = compiler.condition(arguments[0], "where");
    if (!made) return pass(made.error());
    std::shared_ptr<Traversal> child = std::move(*made);
    return filter([=](Run& run, const Traverser& traverser) -> Result<bool> {
      return has_match(run, *child, traverser);
    });
  }
  const Argument& last = arguments.back();
  if (!last.predicate || (arguments.size() == 2 && !arguments[0].is_text())) {
    return bad_arguments(calls);
  }
  auto by = compiler.modulators(calls);
  if (!by) return pass(by.error());
  const std::string label = arguments.size() == 2 ? arguments[0].value.string() : "";
  const auto predicate = last.predicate;
  return filter([=, by = std::move(*by)](Run& run, const Traverser& traverser) -> Result<bool> {
    Traverser left = traverser;
    if (!label.empty()) {
      auto value = scope_value(run, traverser, label);
      if (!value) return pass(value.error());
      if (!*value) return false;
      left = run.fresh(std::move(**value));
    }
    size_t turn = 0;
    auto compared = modulate(run, by, turn++, left);
    if (!compared) return pass(compared.error());
    bool found = true;
    auto resolved = resolve(run, *predicate, traverser, by, turn, found);
    if (!resolved) return pass(resolved.error());
    return found && test(**resolved, *compared);
  });
}

// The part of a path that from() and to() name, each object by its by().
Result<std::vector<Value>> path_part(Run& run, const Traverser& traverser, const std::string& from,
                                     const std::string& to, const std::vector<Modulator>& by) {
  const auto path = traverser.path_value();
  size_t first = 0, last = path->objects.size();
  const auto has = [&](size_t i, const std::string& label) {
    return std::ranges::find(path->labels[i], label) != path->labels[i].end();
  };
  for (size_t i = 0; i < path->objects.size(); ++i) {
    if (!from.empty() && has(i, from)) first = i;
    if (!to.empty() && has(i, to)) last = i + 1;
  }
  std::vector<Value> made;
  for (size_t i = first; i < last; ++i) {
    auto value = modulate(run, by, i - first, run.fresh(path->objects[i]));
    if (!value) return pass(value.error());
    made.push_back(std::move(*value));
  }
  return made;
}

Result<std::string> label_of(const Calls& calls, std::string_view name) {
  const auto found = calls.modifiers(name);
  if (found.empty()) return std::string();
  if (found[0]->arguments.empty() || !found[0]->arguments[0].is_text()) return bad_arguments(calls);
  return found[0]->arguments[0].value.string();
}

Result<StepPtr> make_path_filter(Compiler& compiler, const Calls& calls) {
  auto by = compiler.modulators(calls);
  auto from = label_of(calls, "from");
  auto to = label_of(calls, "to");
  if (!by || !from || !to) return bad_arguments(calls);
  const bool simple = calls.call.name == "simplePath";
  return filter([=, by = std::move(*by), from = *from, to = *to](
                    Run& run, const Traverser& traverser) -> Result<bool> {
    auto part = path_part(run, traverser, from, to, by);
    if (!part) return pass(part.error());
    ValueSet seen;
    for (Value& value : *part) {
      if (!seen.insert(std::move(value)).second) return !simple;
    }
    return simple;
  });
}

class DedupStep final : public FilterStep {
 public:
  DedupStep(std::vector<std::string> labels, std::vector<Modulator> by)
      : labels_(std::move(labels)), by_(std::move(by)) {}
  void reset() override { seen_.clear(), index_.clear(), seen_numbers_.clear(); }
  bool is_stateful() const override { return true; }
  bool gives_numbers() const override { return labels_.empty() && by_.empty(); }
  Result<bool> pull_numbers(Run& run, Frontier& out) override {
    if (!gives_numbers() || !seen_.empty()) return false;
    const size_t had = out.size();
    while (out.size() == had) {
      Frontier in;
      auto given = before->pull_numbers(run, in);
      if (!given || !*given || in.empty()) return given;
      for (const uint32_t vertex : in.vertices) {
        if (seen_numbers_.insert(vertex)) out.add(vertex, 1);
      }
    }
    return true;
  }

 protected:
  Result<bool> test(Run& run, Traverser& traverser) override {
    if (!seen_numbers_.empty() && traverser.value.is_vertex()) {
      traverser.bulk = 1;
      std::vector<uint32_t> number;
      const VertexPtr vertex = traverser.value.vertex();
      auto numbered = run.graph.number(std::span(&vertex, 1), number);
      if (!numbered) return numbered;
      if (*numbered) return seen_numbers_.insert(number[0]);
    }
    Value key;
    if (labels_.empty()) {
      auto value = modulate(run, by_, 0, traverser);
      if (!value) return pass(value.error());
      key = std::move(*value);
    } else {
      Value::List parts;
      for (const std::string& label : labels_) {
        auto value = scope_value(run, traverser, label, Pop::last);
        if (!value) return pass(value.error());
        if (!*value) return false;
        auto modulated = modulate(run, by_, parts.size(), run.fresh(std::move(**value)));
        if (!modulated) return pass(modulated.error());
        parts.push_back(std::move(*modulated));
      }
      key = Value::list(std::move(parts));
    }
    const size_t bytes = key.memory() + 64;
    const size_t at =
        index_.find_or_add(key.hash(), [&](size_t position) { return seen_[position] == key; });
    if (at < seen_.size()) return false;
    seen_.push_back(std::move(key));
    if (auto kept = run.keep(bytes); !kept) return pass(kept.error());
    traverser.bulk = 1;
    return true;
  }

 private:
  const std::vector<std::string> labels_;
  const std::vector<Modulator> by_;
  std::vector<Value> seen_;
  ValueIndex index_;        // of seen_
  NumberSet seen_numbers_;  // vertices of which only these came
};

Result<StepPtr> make_dedup(Compiler& compiler, const Calls& calls) {
  auto labels = texts(calls);
  if (!labels) return pass(labels.error());
  auto by = compiler.modulators(calls);
  if (!by) return pass(by.error());
  return std::make_unique<DedupStep>(std::move(*labels), std::move(*by));
}

// limit, skip, range: over traversers, counting their bulk.
class RangeStep final : public Step {
 public:
  RangeStep(int64_t low, int64_t high) : low_(low), high_(high) {}
  Status pull(Run& run, size_t want, Batch& out) override {
    const size_t had = out.size();
    while (out.size() == had) {
      if (high_ >= 0 && seen_ >= high_) return {};
      Batch in;
      const size_t ask =
          high_ < 0
              ? want
              : static_cast<size_t>(std::min<int64_t>(static_cast<int64_t>(want), high_ - seen_));
      if (auto pulled = before->pull(run, std::max<size_t>(ask, 1), in); !pulled) return pulled;
      if (in.empty()) return {};
      for (Traverser& traverser : in) {
        const int64_t from = seen_;
        const int64_t to = seen_ + static_cast<int64_t>(traverser.bulk);
        seen_ = to;
        const int64_t first = std::max(from, low_);
        const int64_t last = high_ < 0 ? to : std::min(to, high_);
        if (first >= last) continue;
        traverser.bulk = static_cast<uint64_t>(last - first);
        out.push_back(std::move(traverser));
      }
    }
    return {};
  }
  void reset() override { seen_ = 0; }

 private:
  const int64_t low_;
  const int64_t high_;  // below 0: no end
  int64_t seen_ = 0;
};

Result<StepPtr> make_range(Compiler&, const Calls& calls) {
  const std::string& name = calls.call.name;
  const bool has_scope = calls.arguments()[0].is_token();
  auto first = integer_argument(calls, has_scope ? 1 : 0);
  if (!first) return pass(first.error());
  if (name == "limit") return std::make_unique<RangeStep>(0, *first < 0 ? -1 : *first);
  if (name == "skip") return std::make_unique<RangeStep>(*first, -1);
  auto second = integer_argument(calls, has_scope ? 2 : 1);
  if (!second) return pass(second.error());
  if (*second >= 0 && *first > *second) {
    return fail(Code::invalid, fmt::format("range({}, {}) ends before it begins", *first, *second));
  }
  return std::make_unique<RangeStep>(*first, *second);
}

Result<StepPtr> make_coin(Compiler&, const Calls& calls) {
  if (!calls.arguments()[0].is_value() || !calls.arguments()[0].value.is_number()) {
    return bad_arguments(calls);
  }
  const double chance = calls.arguments()[0].value.as_number();
  return filter([=](Run& run, Traverser& traverser) -> Result<bool> {
    const auto number = static_cast<int64_t>(std::min<uint64_t>(traverser.bulk, 1ULL << 40));
    const auto heads = static_cast<uint64_t>(
        std::binomial_distribution<int64_t>(number, std::clamp(chance, 0.0, 1.0))(run.random));
    traverser.bulk = heads;
    return heads > 0;
  });
}

}  // namespace

Maker find_filter_step(std::string_view name) {
  if (name == "has" || name == "hasLabel" || name == "hasId") return make_has;
  if (name == "hasNot") return make_has_not;
  if (name == "hasKey" || name == "hasValue") return make_has_part;
  if (name == "is") return make_is;
  if (name == "not") return make_not;
  if (name == "and" || name == "or" || name == "filter") return make_and_or;
  if (name == "where") return make_where;
  if (name == "simplePath" || name == "cyclicPath") return make_path_filter;
  if (name == "coin") return make_coin;
  return nullptr;
}

// Those of these that have a local form are found by find_map_step first.
Result<StepPtr> make_global_dedup(Compiler& compiler, const Calls& calls) {
  return make_dedup(compiler, calls);
}
Result<StepPtr> make_global_range(Compiler& compiler, const Calls& calls) {
  return make_range(compiler, calls);
}

}  // namespace orrery::gremlin
