// Builds and simplifies the nodes of an index plan: nodes on the same value are merged into one.
#pragma once

#include <vector>

#include "query/plan/index_plan.h"
#include "query/plan/term_ranges.h"

namespace orrery::query {

// The path in the item that a value in a row comes from.
struct PathRef {
  value::Path path;
  uint32_t variable = IndexNode::kOnly;
  // Whether the value is never undefined: it is a row variable itself.
  bool is_defined = false;
  // False: one of the values at the path, and entries do not tell which (c.list[0]).
  bool is_exact = true;
};

IndexNode everything(bool is_exact);
IndexNode nothing();
IndexNode in_ranges(const PathRef& ref, TermRanges ranges);
IndexNode all_of(std::vector<IndexNode> children);
IndexNode any_of(std::vector<IndexNode> children);

// Whether the keys of an exact node are exactly those of its items, whatever access path is chosen.
// Not with a test, or for items without a value: some entries cannot tell. Not for an intersection:
// the access path may leave out children.
bool tells_exactly(const IndexNode& node);

// Whether every item of the node has a value at the path.
bool implies_value(const IndexNode& node, const value::Path& path);

}  // namespace orrery::query
