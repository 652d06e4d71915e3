// Making index plans: the walk over a filter. Used by index_plan.cc alone and split over three
// files: index_planner.cc has the language's operators, index_planner_calls.cc its functions,
// index_planner_sources.cc FROM, JOIN and EXISTS.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "query/plan/index_node.h"

namespace orrery::query {

class IndexPlanner {
 public:
  IndexPlanner(const value::IndexPolicy& policy, Context& context)
      : policy_(policy), context_(context) {}

  // The items that have a row of the query which passes its filter.
  IndexNode rows_of(const BoundQuery& query);
  // The order of the query's items, when entries have it. After rows_of.
  std::optional<IndexOrder> order_of(const BoundQuery& query);
  // What the query needs to know of its items, when that is one value at most. After rows_of, which
  // gave this filter.
  std::optional<IndexOnly> only_of(const BoundQuery& query, const IndexNode& filter);
  // Paths that were asked for and have no entries.
  std::vector<value::Path> missing() { return std::move(missing_); }

 private:
  using Args = const std::vector<BoundExpr>&;

  // The items with a row of which the expression is true (false).
  IndexNode plan(const BoundExpr& expr, bool wanted);
  IndexNode plan_logical(const BoundExpr& expr, bool wanted);
  IndexNode plan_comparison(const BoundExpr& expr, bool wanted);
  IndexNode plan_in(const BoundExpr& expr, bool wanted);
  IndexNode plan_between(const BoundExpr& expr, bool wanted);
  IndexNode plan_like(const BoundExpr& expr, bool wanted);
  IndexNode plan_exists(const BoundQuery& query);
  IndexNode plan_call(const BoundExpr& expr, bool wanted);
  IndexNode plan_type_test(const PathRef& ref, const BoundExpr& expr, bool wanted);
  IndexNode plan_text_call(const BoundExpr& expr, bool wanted);
  IndexNode plan_array_contains(const BoundExpr& expr, bool wanted);
  // The items whose array at the path has this element.
  IndexNode plan_element(const PathRef& array, const value::Value& element);
  // ST_WITHIN, ST_INTERSECTS, and ST_DISTANCE up to so many metres: a path and a shape.
  IndexNode plan_spatial(const BoundExpr& call, double distance_m);
  // An expression of one value at one path: by looking at all values there are, or at those of
  // `ranges`.
  IndexNode plan_test(const BoundExpr& expr, bool wanted,
                      const std::optional<TermRanges>& ranges = std::nullopt);

  void name_source(const BoundSource& source, std::vector<IndexNode>& constraints);
  // The path of an expression that is one and whose entries there are.
  std::optional<PathRef> path_of(const BoundExpr& expr) const;
  std::optional<PathRef> indexed_path(const BoundExpr& expr);
  bool has_entries(const PathRef& ref);
  // The value that a filter fixes at a path, if it is one that terms tell apart from all others.
  std::optional<value::Value> fixed_value(const BoundExpr& filter, const value::Path& path);
  // The order as that of a composite index.
  std::optional<IndexOrder> by_composite(const BoundQuery& query, const IndexOrder& order,
                                         const value::CompositeIndex& composite);
  // The value of an expression that needs no row.
  std::optional<value::Value> constant_of(const BoundExpr& expr);
  // The items that lack a value at the path, when that can be told.
  IndexNode lacking(const PathRef& ref) const;

  const value::IndexPolicy& policy_;
  Context& context_;
  std::vector<std::optional<PathRef>> slots_;  // where row variables come from
  std::vector<value::Path> missing_;
  std::unordered_set<std::string> missing_terms_;  // the same, as term_path writes them
};

}  // namespace orrery::query
