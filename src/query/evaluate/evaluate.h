// Evaluates expressions and whole queries over rows: the semantics of the language, apart from how
// items are read.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"
#include "query/evaluate/bound.h"
#include "query/functions/context.h"
#include "value/value.h"

namespace orrery::query {

// The values of the row variables while a query runs, and those of its aggregates and group keys
// while its SELECT is evaluated. One thread at a time.
struct Frame {
  Frame(size_t slot_count, Context& query_context) : slots(slot_count), context(query_context) {}

  std::vector<value::Value> slots;
  Context& context;
  const std::vector<value::Value>* group_keys = nullptr;
  const std::vector<value::Value>* aggregates = nullptr;

  // Why evaluation stopped. Whatever was computed after that is void. `time` is also the answer
  // when a function failed: see Context::failed.
  using Ended = Budget::Ended;
  Ended ended() const { return context.budget.ended(); }
};

value::Value evaluate(const BoundExpr& expr, Frame& frame);

// Calls `row` for every combination of the sources' values that passes WHERE, with the frame's
// slots filled. Stops, and returns false, when `row` returns false. The first source, when it is
// the document itself, is filled by the caller.
bool each_row(const BoundQuery& query, Frame& frame, const std::function<bool()>& row);
// The same where the first source is a subquery whose rows are these.
bool each_row_of(const BoundQuery& query, std::vector<value::Value> first, Frame& frame,
                 const std::function<bool()>& row);

// What SELECT makes of the row at hand; undefined: nothing is returned for it.
value::Value project(const BoundQuery& query, Frame& frame);

// All rows of an inner query.
std::vector<value::Value> run_subquery(const BoundQuery& query, Frame& frame);

}  // namespace orrery::query
