// Index plans: which index entries answer a query's filter. A plan is a tree of unions and
// intersections over ranges of terms, made from the bound query and the container's index policy.
// Pure and immutable; index_source.h runs it over a view.
//
// A plan covers the filter: its items are a superset of those with a row for which WHERE is true. A
// node is exact when its items are exactly those.
//
// Three-valued logic: a node is planned for the expression being true or, under NOT, for it being
// false. Undefined is neither. So `NOT (c.x < 5)` is the numbers from 5 on, not everything else.
//
// Array elements: an item has one entry for each element, so a range holds the items with some
// element in it. That is what JOIN, EXISTS and ARRAY_CONTAINS need; for c.list[0] it is a superset.
// The intersection of two ranges is a superset as well, since different elements of an item may be
// in them.
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

// A residual predicate on the value of an entry: an expression in which slot 0 is that value.
struct TermTest {
  BoundExpr expr;
  bool wanted = true;
};

struct IndexNode {
  enum class Kind : uint8_t {
    everything,  // all items: the index does not help
    nothing,
    ranges,   // items with an entry in one of the ranges, whose value passes the test
    lacking,  // items without a value at the path
    all_of,   // children
    any_of,   // children
  };
  // Which value at the path the ranges constrain: the only one, that of a row variable (its slot),
  // or any element.
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

  // Whether each range is a single term, whose keys are sorted.
  bool is_points() const;
};

// The order of ORDER BY, as an index has it: that of a single path, at which an item has one value
// at most, or that of a composite index.
struct IndexOrder {
  std::vector<value::CompositeIndex::Part> keys;  // ORDER BY; a single one without a composite
  // Its last parts are the keys; the filter fixes those before them.
  std::optional<value::CompositeIndex> composite;
  std::vector<value::Value> fixed;  // the values of its first parts
  bool is_backwards = false;        // against the composite's directions
};

// That the index covers a query with aggregates or DISTINCT: items need not be read (index_only.h).
struct IndexOnly {
  // The only path that the query reads, if any. The filter may read other paths only with
  // filter_is_exact.
  std::optional<value::Path> path;
  // The filter reads other paths, and its node is exact.
  bool filter_is_exact = false;
  // Only MIN and MAX: the first and the last entry are enough.
  bool is_extremes = false;
  // Every item has an entry for its shape.
  bool has_shapes = false;
};

struct IndexPlan {
  value::ValueOrder value_order = value::ValueOrder::json;  // of the terms
  IndexNode filter;
  std::optional<IndexOrder> order;  // ORDER BY, when an index has it
  std::optional<IndexOnly> only;    // when the index covers the query
  // Paths that the query could use if they were indexed, in the order in which it names them.
  std::vector<value::Path> missing;
};

// Plans the query that reads the container: `query`, or the subquery in its FROM. Functions of the
// current time are evaluated with the context, so the query must run with the same one.
IndexPlan plan_index_use(const BoundQuery& query, const value::IndexPolicy& policy,
                         Context& context);

// For people and tests: `/name/? point and (/age/? range or /tags/[]/? point)`, or `none`. With an
// order it ends in `by /age/?` or `by (/name ASC, /age DESC)`, and with `alone` when the index
// covers the query.
std::string to_string(const IndexPlan& plan);

}  // namespace orrery::query
