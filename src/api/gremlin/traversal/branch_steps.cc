// Steps that send traversers through other traversals: union, coalesce, choose, optional, local,
// repeat.
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
  for (const Call* call : calls.modifiers("option")) {
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

// repeat(): all traversers of a batch go through the body together, loop by loop. What leaves, by
// until() or by emit(), is given before the next loop, so that a limit() behind it ends it.
class RepeatStep final : public Step {
 public:
  struct Test {
    bool is_set = false;
    Shared traversal;       // null: always, or by times
    int64_t times = -1;     // until: so many loops
    bool is_first = false;  // it stands before repeat()
  };
  RepeatStep(std::string loop_name, Shared body, Test until, Test emit)
      : loop_name_(std::move(loop_name)), body_(std::move(body)), until_(until), emit_(emit) {}

  Status pull(Run& run, size_t want, Batch& out) override {
    const size_t had = out.size();
    while (out.size() == had) {
      if (level_.empty()) {
        Batch in;
        if (auto pulled = before->pull(run, want, in); !pulled) return pulled;
        if (in.empty()) return {};
        for (Traverser& traverser : in) {
          traverser.loop = entered_from(std::move(traverser.loop), 0);
          if (auto entered = enter(run, std::move(traverser), out); !entered) return entered;
        }
        continue;
      }
      if (auto looped = loop(run, out); !looped) return looped;
    }
    return {};
  }
  void reset() override { level_.clear(), last_from_.reset(), last_to_.reset(), body_->reset(); }

 private:
  Status enter(Run& run, Traverser traverser, Batch& out) {
    if (until_.is_first) {
      auto done = passes(run, until_, traverser);
      if (!done) return pass(done.error());
      if (*done) {
        leave(std::move(traverser), out);
        return {};
      }
    }
    if (emit_.is_first) {
      auto emits = passes(run, emit_, traverser);
      if (!emits) return pass(emits.error());
      if (*emits) leave(traverser, out);
    }
    level_.push_back(std::move(traverser));
    return {};
  }

  Status loop(Run& run, Batch& out) {
    Batch level = std::move(level_);
    level_.clear();
    merge_bulk(run, level);
    loops_done_ = level.front().loop->count;
    if (loops_done_ >= run.limits.loops) {
      return fail(Code::too_large,
                  fmt::format("repeat() has gone through {} loops, which is the most that a "
                              "traversal may: end it earlier with times() or until()",
                              run.limits.loops));
    }
    auto after = body_->all_further(run, std::move(level));
    if (!after) return pass(after.error());
    if (auto checked = run.check(after->size()); !checked) return checked;
    for (Traverser& traverser : *after) {
      traverser.loop = looped_from(traverser.loop);
      if (!until_.is_first) {
        auto done = passes(run, until_, traverser);
        if (!done) return pass(done.error());
        if (*done) {
          leave(std::move(traverser), out);
          continue;
        }
      }
      if (!emit_.is_first) {
        auto emits = passes(run, emit_, traverser);
        if (!emits) return pass(emits.error());
        if (*emits) leave(traverser, out);
      }
      if (until_.is_first || emit_.is_first) {
        if (auto entered = enter(run, std::move(traverser), out); !entered) return entered;
      } else {
        level_.push_back(std::move(traverser));
      }
    }
    return {};
  }

  LoopPtr entered_from(LoopPtr outer, uint32_t count) const {
    return std::make_shared<const Loop>(Loop{this, loop_name_, count, std::move(outer)});
  }
  // One loop more. Traversers of a level mostly share theirs.
  LoopPtr looped_from(const LoopPtr& from) {
    if (from && from == last_from_) return last_to_;
    // A barrier in the body gives traversers that have no loop.
    last_to_ = from && from->step == this ? entered_from(from->outer, from->count + 1)
                                          : entered_from(from, loops_done_ + 1);
    last_from_ = from;
    return last_to_;
  }

  static void leave(Traverser traverser, Batch& out) {
    traverser.loop = traverser.loop->outer;
    out.push_back(std::move(traverser));
  }

  static Result<bool> passes(Run& run, const Test& test, const Traverser& traverser) {
    if (!test.is_set) return false;
    if (test.times >= 0) return traverser.loop->count >= static_cast<uint64_t>(test.times);
    if (!test.traversal) return true;
    return test.traversal->has_any(run, traverser);
  }

  const std::string loop_name_;
  const Shared body_;
  const Test until_;
  const Test emit_;
  Batch level_;  // waits for the next loop
  uint32_t loops_done_ = 0;
  LoopPtr last_from_;
  LoopPtr last_to_;
};

Result<StepPtr> make_repeat(Compiler& compiler, const Calls& calls) {
  const auto& arguments = calls.arguments();
  if (arguments.size() == 2 && !arguments[0].is_text()) return bad_arguments(calls);
  auto body = compiler.child(arguments.back(), "repeat");
  if (!body) return pass(body.error());
  RepeatStep::Test until, emit;
  const auto take = [&](const Call& call, bool is_first) -> Status {
    RepeatStep::Test& test = call.name == "emit" ? emit : until;
    test.is_set = true;
    test.is_first = is_first;
    if (call.name == "times") {
      if (!call.arguments[0].is_value() || !call.arguments[0].value.is_integer()) {
        return fail(Code::invalid, "times() takes a whole number");
      }
      test.times = std::max<int64_t>(call.arguments[0].value.as_integer(), 0);
    } else if (!call.arguments.empty()) {
      if (call.arguments[0].predicate) {
        test.traversal = std::make_shared<Traversal>();
        test.traversal->add(std::make_unique<IsStep>(call.arguments[0].predicate));
        return {};
      }
      auto child = compiler.condition(call.arguments[0], call.name);
      if (!child) return pass(child.error());
      test.traversal = std::move(*child);
    }
    return {};
  };
  for (const Call* call : calls.before) {
    if (auto taken = take(*call, true); !taken) return pass(taken.error());
  }
  for (const Call* call : calls.after) {
    if (call->name != "until" && call->name != "emit" && call->name != "times") {
      return bad_arguments(calls);
    }
    if (auto taken = take(*call, false); !taken) return pass(taken.error());
  }
  return std::make_unique<RepeatStep>(arguments.size() == 2 ? arguments[0].value.string() : "",
                                      std::move(*body), until, emit);
}

}  // namespace

Maker find_branch_step(std::string_view name) {
  if (name == "union") return make_union;
  if (name == "coalesce") return make_coalesce;
  if (name == "optional") return make_optional;
  if (name == "local") return make_local;
  if (name == "choose" || name == "branch") return make_branch;
  if (name == "repeat") return make_repeat;
  return nullptr;
}

}  // namespace orrery::gremlin
