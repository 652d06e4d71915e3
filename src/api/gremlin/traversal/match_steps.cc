// match(): patterns that bind names. Each pattern is a traversal from one name to another,
// as('a').out().as('b'), or something that only tests: not(), or(), where(). They are solved by
// backtracking: the next pattern is the first whose start is bound.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "api/gremlin/traversal/compile.h"

namespace orrery::gremlin {
namespace {

struct Pattern {
  enum class Kind : uint8_t { step, either, filter } kind = Kind::step;
  std::string start;                // of a step
  std::string end;                  // empty: it binds nothing
  std::shared_ptr<Traversal> body;  // of a step without as() at its ends; of a filter whole
  std::vector<std::vector<Pattern>> choices;  // of either: one of these has a solution
  std::set<std::string> needs;                // of a filter: the names that must be bound
};

// The names that a chain uses, as far as match() may bind them.
void collect_names(const Chain& chain, std::set<std::string>& names) {
  for (const StepCall& call : chain.calls) {
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      const Argument& argument = call.arguments[i];
      if (argument.chain) collect_names(*argument.chain, names);
      if (call.name == "as" && argument.is_text()) names.insert(argument.value.string());
      if (call.name == "where") {
        if (argument.is_text()) names.insert(argument.value.string());
        if (argument.predicate) {
          for (const Value& name : argument.predicate->values) {
            if (name.is_text()) names.insert(name.string());
          }
        }
      }
    }
  }
}

class PatternCompiler {
 public:
  explicit PatternCompiler(Compiler& compiler) : compiler_(compiler) {}

  Status add(const Chain& chain, std::vector<Pattern>& to) {
    const std::vector<StepCall>& calls = chain.calls;
    if (calls.empty()) return fail(Code::invalid, "a pattern of match() is empty");
    // a.and().b and a.or().b
    for (const std::string_view infix : {"or", "and"}) {
      std::vector<Chain> parts(1, Chain{"__", {}});
      for (const StepCall& call : calls) {
        if (call.name == infix && call.arguments.empty()) {
          parts.push_back(Chain{"__", {}});
        } else {
          parts.back().calls.push_back(call);
        }
      }
      if (parts.size() > 1) return infix == "or" ? add_choices(parts, to) : add_all(parts, to);
    }
    if (calls.size() == 1 && (calls[0].name == "and" || calls[0].name == "or")) {
      std::vector<Chain> parts;
      for (const Argument& argument : calls[0].arguments) {
        if (!argument.chain) return fail(Code::invalid, "and() and or() in match() take patterns");
        parts.push_back(*argument.chain);
      }
      return calls[0].name == "or" ? add_choices(parts, to) : add_all(parts, to);
    }
    Pattern made;
    if (calls[0].name != "as") {  // not(…), where(…)
      made.kind = Pattern::Kind::filter;
      auto body = compiler_.child(chain);
      if (!body) return pass(body.error());
      made.body = std::move(*body);
      collect_names(chain, made.needs);
      to.push_back(std::move(made));
      return {};
    }
    if (!calls[0].arguments[0].is_text())
      return fail(Code::invalid, "a pattern begins with as('name')");
    made.start = calls[0].arguments[0].value.string();
    Chain body{"__", {calls.begin() + 1, calls.end()}};
    if (!body.calls.empty() && body.calls.back().name == "as" &&
        body.calls.back().arguments[0].is_text()) {
      made.end = body.calls.back().arguments[0].value.string();
      body.calls.pop_back();
    }
    auto compiled = compiler_.child(body);
    if (!compiled) return pass(compiled.error());
    made.body = std::move(*compiled);
    to.push_back(std::move(made));
    return {};
  }

 private:
  Status add_all(const std::vector<Chain>& parts, std::vector<Pattern>& to) {
    for (const Chain& part : parts) {
      if (auto added = add(part, to); !added) return added;
    }
    return {};
  }
  Status add_choices(const std::vector<Chain>& parts, std::vector<Pattern>& to) {
    Pattern made;
    made.kind = Pattern::Kind::either;
    for (const Chain& part : parts) {
      if (auto added = add(part, made.choices.emplace_back()); !added) return added;
      collect_names(part, made.needs);
    }
    to.push_back(std::move(made));
    return {};
  }

  Compiler& compiler_;
};

class MatchStep final : public FlatStep {
 public:
  explicit MatchStep(std::vector<Pattern> patterns) : patterns_(std::move(patterns)) {
    std::set<std::string> ends;
    for (const Pattern& pattern : patterns_) {
      if (pattern.kind == Pattern::Kind::either)
        names_.insert(pattern.needs.begin(), pattern.needs.end());
      if (pattern.kind != Pattern::Kind::step) continue;
      names_.insert(pattern.start);
      if (!pattern.end.empty()) names_.insert(pattern.end);
      if (!pattern.end.empty() && pattern.end != pattern.start) ends.insert(pattern.end);
    }
    // Where it begins: a name that no pattern ends with, or the first of all.
    for (const Pattern& pattern : patterns_) {
      if (pattern.kind != Pattern::Kind::step) continue;
      if (first_.empty() || (ends.contains(first_) && !ends.contains(pattern.start))) {
        first_ = pattern.start;
      }
    }
  }

 protected:
  Status apply(Run& run, Batch in, Batch& out) override {
    std::vector<const Pattern*> all;
    for (const Pattern& pattern : patterns_) all.push_back(&pattern);
    for (Traverser& traverser : in) {
      const bool is_bound = std::ranges::any_of(
          names_, [&](const std::string& name) { return !traverser.labelled(name).empty(); });
      if (!is_bound && !first_.empty()) traverser.add_label(first_);
      Batch solutions;
      if (auto solved = solve(run, traverser, all, solutions, SIZE_MAX); !solved) return solved;
      for (const Traverser& solution : solutions) {
        Value::Map bound;
        for (const std::string& name : names_) {
          auto values = solution.labelled(name);
          if (!values.empty()) bound.emplace_back(Value::text(name), std::move(values.back()));
        }
        out.push_back(solution.step_to(Value::map(std::move(bound))));
      }
    }
    return {};
  }

 private:
  std::optional<Value> value_of(const Traverser& traverser, const std::string& name) const {
    auto values = traverser.labelled(name);
    if (values.empty()) return std::nullopt;
    return std::move(values.back());
  }

  bool is_ready(const Traverser& traverser, const Pattern& pattern) const {
    if (pattern.kind == Pattern::Kind::step) return value_of(traverser, pattern.start).has_value();
    return std::ranges::all_of(pattern.needs, [&](const std::string& name) {
      return !names_.contains(name) || value_of(traverser, name).has_value();
    });
  }

  // Appends solutions until there are `most`.
  Status solve(Run& run, const Traverser& traverser, std::vector<const Pattern*> left, Batch& out,
               size_t most) const {
    if (auto checked = run.check(); !checked) return checked;
    if (left.empty()) {
      out.push_back(traverser);
      return {};
    }
    // Tests first: they make the rest smaller.
    auto next = std::ranges::find_if(left, [&](const Pattern* pattern) {
      const bool tests = pattern->kind != Pattern::Kind::step || pattern->end.empty() ||
                         value_of(traverser, pattern->end).has_value();
      return tests && is_ready(traverser, *pattern);
    });
    if (next == left.end()) {
      next = std::ranges::find_if(
          left, [&](const Pattern* pattern) { return is_ready(traverser, *pattern); });
    }
    if (next == left.end()) {
      return fail(Code::invalid,
                  "match() has patterns whose start no other pattern binds: they cannot be solved");
    }
    const Pattern& pattern = **next;
    left.erase(next);
    if (pattern.kind == Pattern::Kind::filter) {
      auto passes = pattern.body->has_any(run, traverser);
      if (!passes) return pass(passes.error());
      return *passes ? solve(run, traverser, std::move(left), out, most) : Status();
    }
    if (pattern.kind == Pattern::Kind::either) {
      for (const auto& choice : pattern.choices) {
        std::vector<const Pattern*> parts;
        for (const Pattern& part : choice) parts.push_back(&part);
        Batch found;
        if (auto solved = solve(run, traverser, parts, found, 1); !solved) return solved;
        if (!found.empty()) return solve(run, traverser, std::move(left), out, most);
      }
      return {};
    }
    auto ends = pattern.body->all(run, traverser.with(*value_of(traverser, pattern.start)));
    if (!ends) return pass(ends.error());
    if (pattern.end.empty()) {
      return ends->empty() ? Status() : solve(run, traverser, std::move(left), out, most);
    }
    const auto bound = value_of(traverser, pattern.end);
    for (const Traverser& end : *ends) {
      if (out.size() >= most) return {};
      if (bound) {
        if (!(end.value == *bound)) continue;
        if (auto solved = solve(run, traverser, left, out, most); !solved) return solved;
        continue;
      }
      Traverser further = traverser.step_to(end.value);
      further.bulk = end.bulk;
      further.add_label(pattern.end);
      if (auto solved = solve(run, further, left, out, most); !solved) return solved;
    }
    return {};
  }

  const std::vector<Pattern> patterns_;
  std::set<std::string> names_;
  std::string first_;
};

Result<StepPtr> make_match(Compiler& compiler, const Calls& calls) {
  std::vector<Pattern> patterns;
  PatternCompiler pattern_compiler(compiler);
  for (const Argument& argument : calls.arguments()) {
    if (!argument.chain) return bad_arguments(calls);
    if (auto added = pattern_compiler.add(*argument.chain, patterns); !added) {
      return pass(added.error());
    }
  }
  return std::make_unique<MatchStep>(std::move(patterns));
}

}  // namespace

Maker find_match_step(std::string_view name) {
  return name == "match" ? make_match : nullptr;
}

}  // namespace orrery::gremlin
