// Makes index plans, by recursion over the filter. Used by index_plan.cc alone, and split over
// three files: index_planner.cc has the operators, index_planner_calls.cc the functions,
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
  // The order of ORDER BY, when an index has it. After rows_of.
  std::optional<IndexOrder> order_of(const BoundQuery& query);
  // Whether the index covers the query. After rows_of, which returned `filter`.
  std::optional<IndexOnly> only_of(const BoundQuery& query, const IndexNode& filter);
  // The paths that were looked for and are not indexed.
  std::vector<value::Path> missing() { return std::move(missing_); }

 private:
  using Args = const std::vector<BoundExpr>&;

  // The items with a row for which the expression is `wanted` (true or false).
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
  // ST_WITHIN, ST_INTERSECTS, and ST_DISTANCE up to this many metres, of a path and a constant
  // shape.
  IndexNode plan_spatial(const BoundExpr& call, double distance_m);
  // An expression over a single path, as a test on its entries: all of them, or those in `ranges`.
  IndexNode plan_test(const BoundExpr& expr, bool wanted,
                      const std::optional<TermRanges>& ranges = std::nullopt);

  void name_source(const BoundSource& source, std::vector<IndexNode>& constraints);
  // The path that an expression is, if it is one.
  std::optional<PathRef> path_of(const BoundExpr& expr) const;
  std::optional<PathRef> indexed_path(const BoundExpr& expr);
  bool has_entries(const PathRef& ref);
  // The value that a filter fixes at a path by equality, if its term is that of no other value.
  std::optional<value::Value> fixed_value(const BoundExpr& filter, const value::Path& path);
  // The order as this composite index has it, if it does.
  std::optional<IndexOrder> by_composite(const BoundQuery& query, const IndexOrder& order,
                                         const value::CompositeIndex& composite);
  // The value of an expression that needs no row.
  std::optional<value::Value> constant_of(const BoundExpr& expr);
  // The items without a value at the path; all items when the index does not tell.
  IndexNode lacking(const PathRef& ref) const;

  PathTerms terms_of(const value::Path& path) const { return {path, policy_.definition().order}; }

  const value::IndexPolicy& policy_;
  Context& context_;
  std::vector<std::optional<PathRef>> slots_;  // where row variables come from
  std::vector<value::Path> missing_;
  std::unordered_set<std::string> missing_terms_;  // the same, as term_path writes them
};

}  // namespace orrery::query
