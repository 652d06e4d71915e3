// Steps that send traversers through other traversals: union, coalesce, choose, optional, local.
#include <fmt/format.h>

#include <algorithm>

#include "api/gremlin/traversal/compile.h"

namespace orrery::gremlin {
namespace {

using Shared = std::shared_ptr<Traversal>;

Result<std::vector<Shared>> children_of(Compiler& compiler, const Calls& calls) {
  std::vector<Shared> made;
  for (const Argument& argument : calls.arguments()) {
    auto child = compiler.child(argument, calls.call.name);
    if (!child) return pass(child.error());
    made.push_back(std::move(*child));
  }
  return made;
}

// All that a child gives for these.
Status run_through(Run& run, Traversal& child, const Batch& in, Batch& out) {
  auto given = child.all(run, in);
  if (!given) return pass(given.error());
  std::ranges::move(*given, std::back_inserter(out));
  return {};
}

// The same for each of them alone, where that makes a difference.
Status run_one_by_one(Run& run, Traversal& child, const Batch& in, Batch& out) {
  if (!child.is_stateful()) return run_through(run, child, in, out);
  for (const Traverser& traverser : in) {
    Traverser one = traverser;
    one.bulk = 1;
    auto given = child.all(run, one);
    if (!given) return pass(given.error());
    for (Traverser& each : *given) {
      each.bulk = saturated_product(each.bulk, traverser.bulk);
      out.push_back(std::move(each));
    }
  }
  return {};
}

// A step whose children see all traversers: where one of them gathers, all are gathered first.
class BranchingStep : public Step {
 public:
  explicit BranchingStep(bool gathers) : gathers_(gathers) {}
  bool is_stateful() const override { return gathers_; }
  void reset() override { done_ = false; }
  void rearm() override { done_ = false; }
  Status pull(Run& run, size_t want, Batch& out) final {
    const size_t had = out.size();
    while (out.size() == had && !done_) {
      Batch in;
      while (true) {
        const size_t size = in.size();
        if (auto pulled = before->pull(run, gathers_ ? 4096 : want, in); !pulled) return pulled;
        if (in.size() == size || !gathers_) break;
        if (auto checked = run.check(in.size() - size); !checked) return checked;
      }
      if (in.empty()) return {};
      done_ = gathers_;
      if (auto applied = apply(run, std::move(in), out); !applied) return applied;
    }
    return {};
  }

 protected:
  virtual Status apply(Run& run, Batch in, Batch& out) = 0;

 private:
  const bool gathers_;
  bool done_ = false;
};

bool any_stateful(const std::vector<Shared>& children) {
  return std::ranges::any_of(children, [](const Shared& child) { return child->is_stateful(); });
}

class UnionStep final : public BranchingStep {
 public:
  explicit UnionStep(std::vector<Shared> children)
      : BranchingStep(any_stateful(children)), children_(std::move(children)) {}

 protected:
  Status apply(Run& run, Batch in, Batch& out) override {
    for (const Shared& child : children_) {
      if (auto done = run_through(run, *child, in, out); !done) return done;
    }
    return {};
  }

 private:
  const std::vector<Shared> children_;
};

Result<StepPtr> make_union(Compiler& compiler, const Calls& calls) {
  auto children = children_of(compiler, calls);
  if (!children) return pass(children.error());
  return std::make_unique<UnionStep>(std::move(*children));
}

class CoalesceStep final : public FlatStep {
 public:
  explicit CoalesceStep(std::vector<Shared> children) : children_(std::move(children)) {}

 protected:
  Status apply(Run& run, Batch in, Batch& out) override {
    for (const Traverser& traverser : in) {
      Traverser single = traverser;
      single.bulk = 1;
      for (const Shared& child : children_) {
        auto given = child->all(run, single);
        if (!given) return pass(given.error());
        if (given->empty()) continue;
        for (const Traverser& one : *given) {
          out.push_back(traverser.step_to(one.value));
          out.back().bulk = saturated_product(one.bulk, traverser.bulk);
        }
        break;
      }
    }
    return {};
  }

 private:
  const std::vector<Shared> children_;
};

Result<StepPtr> make_coalesce(Compiler& compiler, const Calls& calls) {
  auto children = children_of(compiler, calls);
  if (!children) return pass(children.error());
  return std::make_unique<CoalesceStep>(std::move(*children));
}

class OptionalStep final : public FlatStep {
 public:
  explicit OptionalStep(Shared child) : child_(std::move(child)) {}

 protected:
  Status apply(Run& run, Batch in, Batch& out) override {
    for (Traverser& traverser : in) {
      auto given = child_->all(run, traverser);
      if (!given) return pass(given.error());
      if (given->empty()) {
        out.push_back(std::move(traverser));
      } else {
        std::ranges::move(*given, std::back_inserter(out));
      }
    }
    return {};
  }

 private:
  const Shared child_;
};

Result<StepPtr> make_optional(Compiler& compiler, const Calls& calls) {
  auto children = children_of(compiler, calls);
  if (!children) return pass(children.error());
  return std::make_unique<OptionalStep>(children->front());
}

class LocalStep final : public FlatStep {
 public:
  explicit LocalStep(Shared child) : child_(std::move(child)) {}

 protected:
  Status apply(Run& run, Batch in, Batch& out) override {
    return run_one_by_one(run, *child_, in, out);
  }

 private:
  const Shared child_;
};

Result<StepPtr> make_local(Compiler& compiler, const Calls& calls) {
  auto children = children_of(compiler, calls);
  if (!children) return pass(children.error());
  return std::make_unique<LocalStep>(children->front());
}

// choose and branch: which children a traverser goes through is told by a choice.
class BranchStep final : public BranchingStep {
 public:
  struct Option {
    enum class Kind : uint8_t { value, predicate, traversal, any, none } kind;
    Value value;
    std::shared_ptr<const Predicate> predicate;
    Shared traversal;
    Shared body;
  };
  BranchStep(Shared choice, std::vector<Option> options, bool as_boolean)
      : BranchingStep(std::ranges::any_of(
            options, [](const Option& option) { return option.body->is_stateful(); })),
        choice_(std::move(choice)),
        options_(std::move(options)),
        as_boolean_(as_boolean) {}

 protected:
  Status apply(Run& run, Batch in, Batch& out) override {
    std::vector<Batch> through(options_.size());
    for (Traverser& traverser : in) {
      auto chosen = choose(run, traverser);
      if (!chosen) return pass(chosen.error());
      for (const size_t option : *chosen) through[option].push_back(traverser);
    }
    for (size_t i = 0; i < options_.size(); ++i) {
      if (through[i].empty()) continue;
      if (auto done = run_through(run, *options_[i].body, through[i], out); !done) return done;
    }
    return {};
  }

 private:
  Result<std::vector<size_t>> choose(Run& run, const Traverser& traverser) const {
    auto first = choice_->first(run, traverser);
    if (!first) return pass(first.error());
    std::optional<Value> choice;
    if (as_boolean_) {
      choice = Value::boolean(first->has_value());
    } else if (*first) {
      choice = (*first)->value;
    }
    std::vector<size_t> chosen;
    for (size_t i = 0; i < options_.size(); ++i) {
      const Option& option = options_[i];
      bool fits = option.kind == Option::Kind::any;
      if (choice && option.kind == Option::Kind::value) fits = *choice == option.value;
      if (choice && option.kind == Option::Kind::predicate) fits = test(*option.predicate, *choice);
      if (choice && option.kind == Option::Kind::traversal) {
        auto found = option.traversal->has_any(run, traverser.with(*choice));
        if (!found) return pass(found.error());
        fits = *found;
      }
      if (fits) chosen.push_back(i);
    }
    const bool any_other = std::ranges::any_of(
        chosen, [&](size_t i) { return options_[i].kind != Option::Kind::any; });
    if (!any_other) {
      for (size_t i = 0; i < options_.size(); ++i) {
        if (options_[i].kind == Option::Kind::none) chosen.push_back(i);
      }
    }
    return chosen;
  }

  const Shared choice_;
  const std::vector<Option> options_;
  const bool as_boolean_;
};

// The test of choose(predicate, …).
class IsStep final : public FilterStep {
 public:
  explicit IsStep(std::shared_ptr<const Predicate> predicate) : predicate_(std::move(predicate)) {}

 protected:
  Result<bool> test(Run&, Traverser& traverser) override {
    return gremlin::test(*predicate_, traverser.value);
  }

 private:
  const std::shared_ptr<const Predicate> predicate_;
};

Result<StepPtr> make_branch(Compiler& compiler, const Calls& calls) {
  using Option = BranchStep::Option;
  const auto& arguments = calls.arguments();
  Shared choice;
  if (arguments[0].predicate) {
    choice = std::make_shared<Traversal>();
    choice->add(std::make_unique<IsStep>(arguments[0].predicate));
  } else {
    auto child = compiler.child(arguments[0], calls.call.name);
    if (!child) return pass(child.error());
    choice = std::move(*child);
  }
  std::vector<Option> options;
  if (arguments.size() > 1) {
    for (size_t i = 1; i < arguments.size(); ++i) {
      auto body = compiler.child(arguments[i], calls.call.name);
      if (!body) return pass(body.error());
      options.push_back({Option::Kind::value, Value::boolean(i == 1), {}, {}, std::move(*body)});
    }
    if (arguments.size() == 2) {  // without an else it goes on as it is
      options.push_back(
          {Option::Kind::value, Value::boolean(false), {}, {}, std::make_shared<Traversal>()});
    }
    return std::make_unique<BranchStep>(std::move(choice), std::move(options), true);
  }
  for (const StepCall* call : calls.modifiers("option")) {
    const auto& parts = call->arguments;
    auto body = compiler.child(parts.back(), "option");
    if (!body) return pass(body.error());
    Option option{Option::Kind::any, {}, {}, {}, std::move(*body)};
    if (parts.size() == 2) {
      const Argument& when = parts[0];
      if (when.chain) {
        auto traversal = compiler.child(when, "option");
        if (!traversal) return pass(traversal.error());
        option.kind = Option::Kind::traversal;
        option.traversal = std::move(*traversal);
      } else if (when.predicate) {
        option.kind = Option::Kind::predicate;
        option.predicate = when.predicate;
      } else if (when.value.is_token("Pick.none")) {
        option.kind = Option::Kind::none;
      } else if (!when.value.is_token("Pick.any")) {
        option.kind = Option::Kind::value;
        option.value = when.value;
      }
    }
    options.push_back(std::move(option));
  }
  return std::make_unique<BranchStep>(std::move(choice), std::move(options), false);
}

}  // namespace

Maker find_branch_step(std::string_view name) {
  if (name == "union") return make_union;
  if (name == "coalesce") return make_coalesce;
  if (name == "optional") return make_optional;
  if (name == "local") return make_local;
  if (name == "choose" || name == "branch") return make_branch;
  return nullptr;
}

}  // namespace orrery::gremlin
