// Which index entries answer a query's filter and order: a tree of unions and intersections over
// ranges of terms, made from the bound query and the container's index policy. Pure and immutable;
// index_source.h runs it over a view.
//
// What a plan promises: the items of its ranges are all those for which WHERE can be true of a row,
// and maybe others. A node is exact when they are no others.
//
// Three values: a filter is served once for being true and, under NOT, for being false; where it is
// undefined it is neither. So `NOT (c.x < 5)` is the numbers from 5 on, not everything else.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "query/bound.h"
#include "query/item_view.h"
#include "value/path.h"
#include "value/terms.h"
#include "value/value.h"

namespace orrery::query {

struct IndexNode {
  enum class Kind : uint8_t {
    everything,  // no entry tells: all items
    nothing,
    ranges,  // items with an entry in one of the ranges
    all_of,  // children
    any_of,  // children
  };
  Kind kind = Kind::everything;
  bool is_exact = false;
  // ranges: in order, not touching one another, all of one path.
  value::Path path;
  std::vector<TermRange> ranges;
  // Whether each range is one term, so that its keys come in order.
  bool is_points = false;
  std::vector<IndexNode> children;

  bool is_everything() const { return kind == Kind::everything; }
};

struct IndexPlan {
  IndexNode filter;
};

// Of the query that reads the container: `query`, or the one in its FROM.
IndexPlan plan_index_use(const BoundQuery& query, const value::IndexPolicy& policy);

}  // namespace orrery::query
