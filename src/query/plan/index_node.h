// Putting nodes of an index plan together: what can be said in one node is.
#pragma once

#include <vector>

#include "query/plan/index_plan.h"
#include "query/plan/term_ranges.h"

namespace orrery::query {

// Where a row's value comes from.
struct PathRef {
  value::Path path;
  uint32_t variable = IndexNode::kOnly;
  // Whether it is there whenever the row is: a row variable itself.
  bool is_defined = false;
  // False: one of the values at the path, and entries do not tell which (c.list[0]).
  bool is_exact = true;
};

IndexNode everything(bool is_exact);
IndexNode nothing();
IndexNode in_ranges(const PathRef& ref, TermRanges ranges);
IndexNode all_of(std::vector<IndexNode> children);
IndexNode any_of(std::vector<IndexNode> children);

// Whether the keys that are read for an exact node are surely those of its items and no others,
// however they are read. Not where entries do not tell what is asked of a value, nor where parts of
// an intersection may be left for the items to tell.
bool tells_exactly(const IndexNode& node);

// Whether every item of the node has a value at the path.
bool implies_value(const IndexNode& node, const value::Path& path);

}  // namespace orrery::query
