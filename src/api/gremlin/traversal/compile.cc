// See compile.h.
#include "api/gremlin/traversal/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/gremlin/traversal/strategies.h"

namespace orrery::gremlin {
namespace {

// Steps that find elements by conditions.
bool takes_conditions(std::string_view step) {
  return is_one_of(step, {"V", "E", "outE", "inE", "bothE", "toE"});
}

// Whether the call `next` says how `step` is meant.
bool modifies(std::string_view step, const StepCall& next) {
  const std::string_view name = next.name;
  if (name == "by" || name == "with") return true;
  if (step == "repeat") return is_one_of(name, {"until", "emit", "times"});
  if (step == "pageRank" || step == "peerPressure") return name == "times";
  if (name == "from") return true;
  if (name == "to") return is_one_of(step, {"addE", "path", "simplePath", "cyclicPath"});
  if (name == "option") return is_one_of(step, {"choose", "branch", "mergeV", "mergeE"});
  if (name == "property") return is_one_of(step, {"addV", "addE", "property", "mergeV", "mergeE"});
  if (takes_conditions(step)) return is_one_of(name, {"has", "hasLabel", "hasId"});
  return false;
}

// a.or().b, where `or` stands between what it joins: as or(a, b). `and` binds closer.
std::vector<StepCall> without_infix(std::vector<StepCall> calls, size_t from) {
  const auto rest = calls.begin() + static_cast<std::ptrdiff_t>(from);
  for (const std::string_view connective : {"or", "and"}) {
    const auto joins = [&](const StepCall& call) {
      return call.name == connective && call.arguments.empty();
    };
    if (std::none_of(rest, calls.end(), joins)) continue;
    std::vector<Argument> parts;
    std::vector<StepCall> part;
    const auto end_part = [&] {
      parts.push_back({.value = {},
                       .chain = std::make_shared<Chain>(Chain{"__", std::exchange(part, {})}),
                       .predicate = {}});
    };
    for (auto call = rest; call != calls.end(); ++call) {
      if (joins(*call)) {
        end_part();
      } else {
        part.push_back(std::move(*call));
      }
    }
    end_part();
    calls.erase(rest, calls.end());
    calls.push_back({std::string(connective), std::move(parts)});
    return calls;
  }
  return calls;
}

class AsStep final : public FlatStep {
 public:
  explicit AsStep(std::vector<std::string> labels) : labels_(std::move(labels)) {}

 protected:
  Status apply(Run& /*run*/, Batch in, Batch& out) override {
    for (Traverser& traverser : in) {
      for (const std::string& label : labels_) traverser.add_label(label);
      out.push_back(std::move(traverser));
    }
    return {};
  }

 private:
  const std::vector<std::string> labels_;
};

bool needs_path(const Chain& chain) {
  return std::ranges::any_of(chain.calls, [](const StepCall& call) {
    return is_one_of(call.name,
                     {"as", "path", "simplePath", "cyclicPath", "tree", "otherV", "match"}) ||
           std::ranges::any_of(call.arguments, [](const Argument& argument) {
             return argument.chain && needs_path(*argument.chain);
           });
  });
}

Maker find_maker(std::string_view name) {
  for (const auto finder : {find_element_step, find_filter_step, find_map_step, find_barrier_step,
                            find_branch_step, find_repeat_step, find_write_step, find_merge_step,
                            find_side_effect_step, find_match_step, find_program_step}) {
    if (const Maker maker = finder(name)) return maker;
  }
  return nullptr;
}

}  // namespace

std::vector<const StepCall*> Calls::modifiers(std::string_view name) const {
  std::vector<const StepCall*> found;
  for (const StepCall* modifier : after) {
    if (modifier->name == name) found.push_back(modifier);
  }
  return found;
}

Result<TraversalPtr> Compiler::child(const Chain& chain) {
  auto made = std::make_unique<Traversal>();
  std::vector<StepCall> calls = without_infix(chain.calls, 0);
  // as('a') before the first step that moves, and as('b') behind the last one: where() and match()
  // read them, and others have them as steps too.
  if (!calls.empty() && calls.front().name == "as" && calls.front().arguments.size() == 1 &&
      calls.front().arguments[0].is_text()) {
    made->start_label = calls.front().arguments[0].value.string();
  }
  if (calls.size() > 1 && calls.back().name == "as" && calls.back().arguments.size() == 1 &&
      calls.back().arguments[0].is_text()) {
    made->end_label = calls.back().arguments[0].value.string();
  }
  if (auto added = add_calls(*made, calls, false); !added) return pass(added.error());
  return made;
}

Result<TraversalPtr> Compiler::child(const Argument& argument, std::string_view step) {
  if (argument.chain && argument.chain->source == "__") return child(*argument.chain);
  return fail(Code::invalid, fmt::format("{}() takes a traversal here, and not {}", step,
                                         print(argument).substr(0, 100)));
}

Result<TraversalPtr> Compiler::condition(const Argument& argument, std::string_view step) {
  auto made = child(argument, step);
  if (made && (*made)->end_label.empty()) (*made)->steps().back()->only_ask();
  return made;
}

Result<Modulator> Compiler::modulator(const StepCall& by) {
  Modulator made;
  const auto set_order = [&](const Argument& argument) {
    if (!argument.is_token()) return false;
    const std::string& name = argument.value.string();
    if (name == "Order.asc") made.order = Modulator::Order::ascending;
    if (name == "Order.desc") made.order = Modulator::Order::descending;
    if (name == "Order.shuffle") made.order = Modulator::Order::shuffle;
    return name.starts_with("Order.");
  };
  const auto& arguments = by.arguments;
  if (arguments.empty()) return made;
  if (arguments.size() == 2 && !set_order(arguments[1])) {
    return fail(Code::unsupported, "by() with " + print(arguments[1]).substr(0, 100));
  }
  const Argument& what = arguments[0];
  if (what.chain) {
    auto traversal = child(*what.chain);
    if (!traversal) return pass(traversal.error());
    made.kind = Modulator::Kind::traversal;
    made.name = print(*what.chain);
    made.traversal = std::move(*traversal);
  } else if (what.is_text()) {
    made.kind = Modulator::Kind::key;
    made.name = what.value.string();
  } else if (what.is_token()) {
    made.name = what.value.string();
    if (arguments.size() == 1 && set_order(what)) {
      made.name.clear();
    } else if (made.name.starts_with("T.")) {
      made.kind = Modulator::Kind::token;
    } else if (made.name.starts_with("Column.")) {
      made.kind = Modulator::Kind::column;
    } else {
      return fail(Code::invalid, fmt::format("by({}) is not supported", made.name));
    }
  } else {
    return fail(Code::invalid, fmt::format("by() takes a key, a token or a traversal, and not {}",
                                           print(what).substr(0, 100)));
  }
  return made;
}

Result<std::vector<Modulator>> Compiler::modulators(const Calls& calls) {
  std::vector<Modulator> made;
  for (const StepCall* by : calls.modifiers("by")) {
    auto one = modulator(*by);
    if (!one) return pass(one.error());
    made.push_back(std::move(*one));
  }
  return made;
}

Status Compiler::add_calls(Traversal& to, const std::vector<StepCall>& calls, bool is_root) {
  for (size_t i = 0; i < calls.size();) {
    const size_t first = i;
    if (calls[i].name == "as") {
      const Calls as{calls[i], {}, {}, false};
      auto labels = texts(as);
      if (!labels) return pass(labels.error());
      auto step = std::make_unique<AsStep>(std::move(*labels));
      step->name = print(calls[i]);
      to.add(std::move(step));
      ++i;
      continue;
    }
    std::vector<const StepCall*> before;
    while (i < calls.size() && is_one_of(calls[i].name, {"until", "emit", "times"})) {
      before.push_back(&calls[i++]);
    }
    if (!before.empty() && (i == calls.size() || calls[i].name != "repeat")) {
      return fail(Code::invalid, before.front()->name + "() belongs to a repeat()");
    }
    Calls group{calls[i], std::move(before), {}, is_root && first == 0};
    ++i;
    while (i < calls.size() && modifies(group.call.name, calls[i])) {
      if (takes_conditions(group.call.name)) {
        auto conditions = conditions_of(calls[i]);
        if (!conditions) return pass(conditions.error());
        if (!*conditions) break;
      }
      group.after.push_back(&calls[i++]);
    }
    const Maker make = find_maker(group.call.name);
    if (make == nullptr) {
      return fail(Code::unsupported, fmt::format("{}() is not supported here", group.call.name));
    }
    auto step = make(*this, group);
    if (!step) return pass(step.error());
    (*step)->name = print(group.call);
    for (const StepCall* modifier : group.after) (*step)->name += "." + print(*modifier);
    if (group.call.name == "count" && !is_local(group)) to.steps().back()->only_count();
    to.add(std::move(*step));
  }
  return {};
}

Result<std::vector<std::string>> texts(const Calls& calls, size_t from) {
  std::vector<std::string> made;
  const auto add = [&](const Value& value) {
    if (!value.is_text()) return false;
    made.push_back(value.string());
    return true;
  };
  for (size_t i = from; i < calls.arguments().size(); ++i) {
    const Argument& argument = calls.arguments()[i];
    if (argument.is_value() && argument.value.is_null()) continue;
    if (argument.is_value() && argument.value.is_list()) {
      for (const Value& element : argument.value.elements()) {
        if (!add(element)) return bad_arguments(calls);
      }
    } else if (!argument.is_value() || !add(argument.value)) {
      return bad_arguments(calls);
    }
  }
  return made;
}

Result<int64_t> integer_argument(const Calls& calls, size_t i) {
  if (i >= calls.arguments().size() || !calls.arguments()[i].is_value() ||
      !calls.arguments()[i].value.is_integer()) {
    return bad_arguments(calls);
  }
  return calls.arguments()[i].value.as_integer();
}

bool is_local(const Calls& calls) {
  return !calls.arguments().empty() && calls.arguments()[0].is_value() &&
         calls.arguments()[0].value.is_token("Scope.local");
}

std::unexpected<Error> bad_arguments(const Calls& calls) {
  return fail(Code::invalid, fmt::format("{} is not supported with these arguments",
                                         print(calls.call).substr(0, 200)));
}

std::shared_ptr<const Predicate> as_predicate(const Argument& argument) {
  if (argument.predicate) return argument.predicate;
  auto made = std::make_shared<Predicate>();
  made->op = "eq";
  made->values.push_back(argument.value);
  return made;
}

std::string id_text(const Value& id) {
  if (id.is_vertex()) return id.vertex()->key.id;
  if (id.is_edge()) return id.edge()->key.id;
  return id.print();
}

std::shared_ptr<const Predicate> for_ids(const std::shared_ptr<const Predicate>& predicate) {
  auto made = std::make_shared<Predicate>();
  made->op = predicate->op;
  for (const Value& value : predicate->values) made->values.push_back(Value::text(id_text(value)));
  for (const auto& part : predicate->parts) made->parts.push_back(for_ids(part));
  return made;
}

Result<std::optional<std::vector<Condition>>> conditions_of(const StepCall& call) {
  std::vector<Condition> made;
  const auto& arguments = call.arguments;
  const auto any_of = [&](Condition::Of of) -> std::optional<std::vector<Condition>> {
    auto predicate = std::make_shared<Predicate>();
    if (arguments.size() == 1 && arguments[0].predicate) {
      made.push_back(
          {of, "",
           of == Condition::Of::id ? for_ids(arguments[0].predicate) : arguments[0].predicate});
      return made;
    }
    predicate->op = "within";
    for (const Argument& argument : arguments) {
      if (!argument.is_value()) return std::nullopt;
      const auto add = [&](const Value& value) {
        predicate->values.push_back(of == Condition::Of::id ? Value::text(id_text(value)) : value);
      };
      if (argument.value.is_list()) {
        std::ranges::for_each(argument.value.elements(), add);
      } else {
        add(argument.value);
      }
    }
    made.push_back({of, "", std::move(predicate)});
    return made;
  };
  if (call.name == "hasLabel") return any_of(Condition::Of::label);
  if (call.name == "hasId") return any_of(Condition::Of::id);
  if (call.name != "has" || std::ranges::any_of(arguments, [](const Argument& argument) {
        return argument.chain != nullptr;
      })) {
    return std::nullopt;
  }
  size_t at = 0;
  if (arguments.size() == 3) {
    made.push_back({Condition::Of::label, "", as_predicate(arguments[0])});
    at = 1;
  }
  const Argument& key = arguments[at];
  Condition condition;
  if (key.is_text()) {
    condition.name = key.value.string();
    // The id and the label are properties of the stored item.
    if (condition.name == "id") condition.of = Condition::Of::id;
    if (condition.name == "label") condition.of = Condition::Of::label;
  } else if (key.is_token() && key.value.string() == "T.id") {
    condition.of = Condition::Of::id;
  } else if (key.is_token() && key.value.string() == "T.label") {
    condition.of = Condition::Of::label;
  } else {
    return std::nullopt;
  }
  if (at + 1 < arguments.size()) {
    condition.predicate = as_predicate(arguments[at + 1]);
    if (condition.of == Condition::Of::id) condition.predicate = for_ids(condition.predicate);
  }
  made.push_back(std::move(condition));
  return made;
}

class RootCompiler {
 public:
  explicit RootCompiler(Run& run) : run_(run), compiler_(run) {}

  Result<Compiled> compile(const Chain& given) {
    Compiled made;
    auto applied = apply_strategies(given, run_);
    if (!applied) return pass(applied.error());
    run_.keeps_path = needs_path(*applied);
    made.is_read_only = !writes(*applied);
    made.only_adds = only_adds(*applied);
    std::vector<StepCall> calls = std::move(applied->calls);
    size_t first = 0;
    while (first < calls.size() && calls[first].name.starts_with("with") &&
           calls[first].name != "with") {
      if (auto taken = take_source(calls[first]); !taken) return pass(taken.error());
      ++first;
    }
    while (first < calls.size() && calls[first].name == "with") ++first;  // hints of drivers
    calls.erase(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(first));
    take_ending(calls, made);
    if (calls.empty()) return fail(Code::invalid, "a traversal has at least one step, as in g.V()");
    if (!is_one_of(calls[0].name,
                   {"V", "E", "addV", "addE", "inject", "mergeV", "mergeE", "union"})) {
      return fail(Code::invalid, fmt::format("g.{}() cannot begin a traversal: V, E, addV, addE, "
                                             "inject, mergeV, mergeE and union can",
                                             calls[0].name));
    }
    size_t after_start = 0;
    for (size_t i = 0; i < calls.size(); ++i) {
      if (is_one_of(calls[i].name, {"V", "E", "addV", "inject"})) after_start = i + 1;
    }
    while (after_start < calls.size() && calls[after_start].name == "as") ++after_start;
    calls = without_infix(std::move(calls), after_start);
    made.traversal = std::make_unique<Traversal>();
    if (auto added = compiler_.add_calls(*made.traversal, calls, true); !added) {
      return pass(added.error());
    }
    return made;
  }

 private:
  Status take_source(const StepCall& call) {
    const auto& arguments = call.arguments;
    const auto refused = [&] {
      return fail(Code::unsupported, print(call).substr(0, 200) + " is not supported");
    };
    if (call.name == "withSack") {
      if (!arguments[0].is_value()) return refused();
      run_.sack = arguments[0].value;
      if (arguments.size() > 1) {
        if (!arguments[1].is_token()) return refused();
        run_.sack_merge = arguments[1].value.string();
      }
    } else if (call.name == "withSideEffect") {
      if (!arguments[0].is_text() || !arguments[1].is_value()) return refused();
      run_.side_effects[arguments[0].value.string()].given = arguments[1].value;
    } else if (call.name == "withBulk") {
      if (!arguments[0].is_value() || arguments[0].value.kind() != Kind::boolean) return refused();
      run_.with_bulk = arguments[0].value.as_bool();
    } else if (call.name == "withPath") {
      run_.keeps_path = true;
    }
    return {};  // withComputer: everything is computed here anyway
  }

  static void take_ending(std::vector<StepCall>& calls, Compiled& made) {
    while (!calls.empty()) {
      const StepCall& last = calls.back();
      if (last.name == "executionProfile" || (last.name == "profile" && last.arguments.empty())) {
        made.profile = true;
      } else if (last.name == "explain") {
        made.explain = true;
      } else if (last.name == "next") {
        made.read_as = "next";
        made.next_count = !last.arguments.empty() && last.arguments[0].value.is_integer()
                              ? last.arguments[0].value.as_integer()
                              : 1;
      } else if (last.name == "tryNext") {
        made.read_as = "next";
        made.next_count = 1;
      } else if (last.name == "hasNext") {
        made.read_as = "has_next";
      } else if (is_one_of(last.name, {"iterate", "none", "discard"})) {
        made.read_as = "iterate";
      } else if (!is_one_of(last.name, {"toList", "toSet", "toBulkSet"})) {
        return;
      }
      calls.pop_back();
    }
  }

  Run& run_;
  Compiler compiler_;
};

Result<Compiled> compile(const Chain& chain, Run& run) {
  return RootCompiler(run).compile(chain);
}

}  // namespace orrery::gremlin
