// Which index entries answer a query's filter: a tree of unions and intersections over ranges of
// terms, made from the bound query and the container's index policy. Pure and immutable;
// index_source.h runs it over a view.
//
// What a plan promises: its items are all those for which WHERE can be true of a row, and maybe
// others. A node is exact when there are no others.
//
// Three values: a filter is served for being true and, under NOT, for being false; where it is
// undefined it is neither. So `NOT (c.x < 5)` is the numbers from 5 on, not everything else.
//
// Elements of arrays: an item has an entry for each, and a range of them holds the items of which
// some element is in it. That is what JOIN, EXISTS and ARRAY_CONTAINS ask for; for c.list[0] it is
// a superset. Two ranges meet in one item, not in one element: also a superset.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "query/evaluate/bound.h"
#include "query/functions/context.h"
#include "query/plan/item_view.h"
#include "value/composite.h"
#include "value/path.h"
#include "value/terms.h"
#include "value/value.h"

namespace orrery::query {

// What else must be true of the value that an entry stands for: an expression in which slot 0 is
// that value.
struct TermTest {
  BoundExpr expr;
  bool wanted = true;
};

struct IndexNode {
  enum class Kind : uint8_t {
    everything,  // no entry tells: all items
    nothing,
    ranges,   // items with an entry in one of the ranges, whose value passes the test
    lacking,  // items without a value at the path
    all_of,   // children
    any_of,   // children
  };
  // Of which value at the path the ranges speak: the only one, that of a row variable (by slot), or
  // any element's.
  static constexpr uint32_t kOnly = UINT32_MAX;
  static constexpr uint32_t kAny = UINT32_MAX - 1;

  Kind kind = Kind::everything;
  bool is_exact = false;
  value::Path path;  // of ranges and lacking
  uint32_t variable = kOnly;
  bool is_spatial = false;        // the ranges are of cells that the shape at the path lies in
  std::vector<TermRange> ranges;  // in order, not overlapping
  std::shared_ptr<const TermTest> test;
  std::vector<IndexNode> children;

  // Whether each range is a single term, so that its keys come in order.
  bool is_points() const;
};

// An order that entries are in: that of the values at a path, which an item has one of at most, or
// that of a composite index.
struct IndexOrder {
  std::vector<value::CompositeIndex::Part> keys;  // ORDER BY; a single one without a composite
  // Its last parts are the keys; the filter fixes those before them.
  std::optional<value::CompositeIndex> composite;
  std::vector<value::Value> fixed;  // of its first parts: all that the filter fixes
  bool is_backwards = false;        // against the composite's directions
};

// What a query with aggregates or DISTINCT looks at, when that is so little that entries tell it.
struct IndexOnly {
  // The only path outside of the filter, if any; the filter is about it too, unless the next.
  std::optional<value::Path> path;
  // The filter is by entries of other values: its node tells exactly which items pass.
  bool filter_is_exact = false;
  // Only the smallest and the largest value matter.
  bool is_extremes = false;
  // Every item has an entry for its shape.
  bool has_shapes = false;
};

struct IndexPlan {
  IndexNode filter;
  std::optional<IndexOrder> order;  // ORDER BY, when there are entries in this order
  std::optional<IndexOnly> only;    // when items need not be read
  // Paths that would help if they had entries, in the order in which the query names them.
  std::vector<value::Path> missing;
};

// Of the query that reads the container: `query`, or the one in its FROM. Functions of the time of
// the query are taken from the context; the query must run with the same one.
IndexPlan plan_index_use(const BoundQuery& query, const value::IndexPolicy& policy,
                         Context& context);

// For people and tests: `/name/? point and (/age/? range or /tags/[]/? point)`, `none`, and with an
// order `/name/? point by /age/?` or `by (/name ASC, /age DESC)`, and with `alone` at the end when
// items need not be read.
std::string to_string(const IndexPlan& plan);

}  // namespace orrery::query
