// From the tree of a traversal to its steps. Calls that only say how another is meant (by, from,
// to, with, option, times, until, emit, and property after addV) go to the step that they are
// about.
//
// Code::unsupported, with its name, for what is not there.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/gremlin/parse/tree.h"
#include "api/gremlin/traversal/run.h"
#include "api/gremlin/traversal/step.h"
#include "base/result.h"

namespace orrery::gremlin {

// A call with those that modify it.
struct Calls {
  const StepCall& call;
  std::vector<const StepCall*> before;  // until, emit and times that stand before their repeat
  std::vector<const StepCall*> after;
  bool is_first = false;  // of the whole traversal: what comes in is nothing but the start

  const std::vector<Argument>& arguments() const { return call.arguments; }
  std::vector<const StepCall*> modifiers(std::string_view name) const;
};

class Compiler {
 public:
  explicit Compiler(Run& run) : run_(run) {}

  Result<TraversalPtr> child(const Chain& chain);
  Result<TraversalPtr> child(const Argument& argument, std::string_view step);
  // One that is only asked whether it gives something.
  Result<TraversalPtr> condition(const Argument& argument, std::string_view step);
  Result<std::vector<Modulator>> modulators(const Calls& calls);
  Result<Modulator> modulator(const StepCall& by);
  Run& run() { return run_; }

 private:
  friend class RootCompiler;
  Status add_calls(Traversal& to, const std::vector<StepCall>& calls, bool is_root);
  Run& run_;
};

using Maker = Result<StepPtr> (*)(Compiler&, const Calls&);
// Null when the step is none of this kind.
Maker find_element_step(std::string_view name);
Maker find_filter_step(std::string_view name);
Maker find_map_step(std::string_view name);
Maker find_barrier_step(std::string_view name);
Maker find_branch_step(std::string_view name);
Maker find_repeat_step(std::string_view name);
Maker find_write_step(std::string_view name);
Maker find_merge_step(std::string_view name);
Maker find_side_effect_step(std::string_view name);
Maker find_match_step(std::string_view name);
Maker find_program_step(std::string_view name);

// Of steps that also have a form for Scope.local, which is a map step.
Result<StepPtr> make_global_dedup(Compiler& compiler, const Calls& calls);
Result<StepPtr> make_global_range(Compiler& compiler, const Calls& calls);

// Arguments.
Result<std::vector<std::string>> texts(const Calls& calls, size_t from = 0);
Result<int64_t> integer_argument(const Calls& calls, size_t i);
bool is_local(const Calls& calls);  // Scope.local is the first argument
std::unexpected<Error> bad_arguments(const Calls& calls);
// A value or a predicate as a predicate.
std::shared_ptr<const Predicate> as_predicate(const Argument& argument);
// Ids are texts: the predicate with its values as such.
std::shared_ptr<const Predicate> for_ids(const std::shared_ptr<const Predicate>& predicate);
std::string id_text(const Value& id);

// has(), hasLabel(), hasId() as conditions, when that is all that they are.
Result<std::optional<std::vector<Condition>>> conditions_of(const StepCall& call);

// A whole traversal, with what g.with…() says put into the run.
struct Compiled {
  TraversalPtr traversal;
  bool profile = false;
  bool explain = false;
  std::string read_as;  // next, toList and so on: empty, next, has_next, iterate
  int64_t next_count = 0;
  bool is_read_only = true;  // it has no step that writes
  bool only_adds = true;     // it has none that changes an element that is there, or drops it
};
Result<Compiled> compile(const Chain& chain, Run& run);

}  // namespace orrery::gremlin
