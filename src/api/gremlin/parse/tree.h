// A traversal as it was written: a chain of calls whose arguments are values, predicates or other
// chains. Text (parser.h) and bytecode (wire/bytecode.h) give the same tree.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "api/gremlin/value/value.h"

namespace orrery::gremlin {

// How deep chains, predicates and lists may nest: what walks over a tree recurses.
inline constexpr size_t kNestingMax = 64;

struct Chain;
struct Predicate;

struct Argument {
  // At most one of the pointers is set; the value is for neither.
  Value value;
  std::shared_ptr<const Chain> chain;
  std::shared_ptr<const Predicate> predicate;

  bool is_value() const { return !chain && !predicate; }
  bool is_text() const { return is_value() && value.is_text(); }
  bool is_token() const { return is_value() && value.kind() == Kind::token; }
};

struct StepCall {
  std::string name;
  std::vector<Argument> arguments;
};

struct Chain {
  std::string source;  // g, __ (also when nothing was written), or the name of a strategy
  std::vector<StepCall> calls;
};

// eq, neq, lt, lte, gt, gte, inside, outside, between, within, without, the six of TextP, and the
// connectives and, or, not, which have parts instead of values.
struct Predicate {
  std::string op;
  std::vector<Value> values;
  std::vector<std::shared_ptr<const Predicate>> parts;
};

// How many calls a tree has, those of nested chains included.
size_t count_calls(const Chain& chain);
// For messages and explain(): V().has(name,marko)
std::string print(const Chain& chain);
std::string print(const Argument& argument);
std::string print(const Predicate& predicate);
std::string print(const StepCall& call);

}  // namespace orrery::gremlin
