// repeat(), with until(), emit() and times().
#include <fmt/format.h>

#include <algorithm>

#include "api/gremlin/traversal/compile.h"

namespace orrery::gremlin {
namespace {

using Shared = std::shared_ptr<Traversal>;

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
      if (!left_.empty()) {
        std::ranges::move(std::exchange(left_, {}), std::back_inserter(out));
        continue;
      }
      if (level_.empty()) {
        Batch in = std::exchange(input_.rest, {});
        if (in.empty()) {
          if (auto pulled = before->pull(run, want, in); !pulled) return pulled;
        }
        if (in.empty()) return {};
        if (auto begun = begin(run, std::move(in), out); !begun) return begun;
        continue;
      }
      if (auto looped = loop(run, out); !looped) return looped;
    }
    return {};
  }
  void reset() override {
    level_.clear(), left_.clear(), input_.rest.clear();
    last_from_.reset(), last_to_.reset(), body_->reset();
  }

  // Of vertices alone, for a number of loops that is known.
  bool gives_numbers() const override {
    return until_.is_set && until_.times >= 0 && !emit_.is_set && body_->gives_numbers();
  }
  Result<bool> pull_numbers(Run& run, Frontier& out) override {
    const size_t had = out.size();
    while (out.size() == had) {
      if (!gives_numbers() || !level_.empty() || !left_.empty()) return false;
      Frontier in;
      auto given = input_.next(run, *before, in);
      if (!given || !*given || in.empty()) return given;
      if (auto walked = walk(run, std::move(in), out); !walked) return pass(walked.error());
    }
    return true;
  }

 private:
  Status begin(Run& run, Batch in, Batch& out) {
    Frontier numbers;
    auto numbered = gives_numbers() ? to_numbers(run, in, numbers) : Result<bool>(false);
    if (!numbered) return pass(numbered.error());
    if (*numbered) {
      Frontier found;
      if (auto walked = walk(run, std::move(numbers), found); !walked) return walked;
      return from_numbers(run, found, out);
    }
    for (Traverser& traverser : in) {
      traverser.loop = entered_from(std::move(traverser.loop), 0);
      if (auto entered = enter(run, std::move(traverser), out); !entered) return entered;
    }
    return {};
  }

  // All loops of these. When a loop could not be made with numbers, what is left of them goes on
  // without: it is in level_ and left_ then.
  Status walk(Run& run, Frontier level, Frontier& out) {
    const uint64_t times = std::max<uint64_t>(until_.times, until_.is_first ? 0 : 1);
    for (uint32_t done = 0; done < times && !level.empty(); ++done) {
      loops_done_ = done;
      if (auto checked = check_loops(run); !checked) return checked;
      Frontier after;
      auto rest = body_->all_further(run, std::move(level), after);
      if (!rest) return pass(rest.error());
      level = std::move(after);
      if (rest->empty()) continue;
      if (auto made = from_numbers(run, level, *rest); !made) return made;
      return after_loop(run, std::move(*rest), left_);
    }
    for (size_t i = 0; i < level.size(); ++i) out.add(level.vertices[i], level.bulks[i]);
    return {};
  }

  Status check_loops(const Run& run) const {
    if (loops_done_ < run.limits.loops) return {};
    return fail(Code::too_large,
                fmt::format("repeat() has gone through {} loops, which is the most that a "
                            "traversal may: end it earlier with times() or until()",
                            run.limits.loops));
  }

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
    if (auto checked = check_loops(run); !checked) return checked;
    auto after = body_->all_further(run, std::move(level));
    if (!after) return pass(after.error());
    return after_loop(run, std::move(*after), out);
  }

  Status after_loop(Run& run, Batch after, Batch& out) {
    if (auto checked = run.check(after.size()); !checked) return checked;
    for (Traverser& traverser : after) {
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
  NumberedInput input_;
  Batch level_;  // waits for the next loop
  Batch left_;   // has left the loops, and was not given yet
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
  const auto take = [&](const StepCall& call, bool is_first) -> Status {
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
        auto is = compiler.child(Chain{"__", {StepCall{"is", call.arguments}}});
        if (!is) return pass(is.error());
        test.traversal = std::move(*is);
        return {};
      }
      auto child = compiler.condition(call.arguments[0], call.name);
      if (!child) return pass(child.error());
      test.traversal = std::move(*child);
    }
    return {};
  };
  for (const StepCall* call : calls.before) {
    if (auto taken = take(*call, true); !taken) return pass(taken.error());
  }
  for (const StepCall* call : calls.after) {
    if (call->name != "until" && call->name != "emit" && call->name != "times") {
      return bad_arguments(calls);
    }
    if (auto taken = take(*call, false); !taken) return pass(taken.error());
  }
  return std::make_unique<RepeatStep>(arguments.size() == 2 ? arguments[0].value.string() : "",
                                      std::move(*body), until, emit);
}

}  // namespace

Maker find_repeat_step(std::string_view name) {
  return name == "repeat" ? make_repeat : nullptr;
}

}  // namespace orrery::gremlin
