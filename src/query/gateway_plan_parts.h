// What the files of the gateway's plan share. See gateway_plan.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "query/ast.h"
#include "query/gateway_plan.h"

namespace orrery::query::gateway {

// Largest count of TOP, OFFSET and LIMIT.
inline constexpr uint64_t kMaxCount = 4'294'967'295;

inline constexpr std::string_view kFilter = "({documentdb-formattableorderbyquery-filter})";

bool is_call(const Expr& expr, std::string_view upper_name);
// The aggregate that the expression is a call of, if it is one.
std::optional<Aggregate> aggregate_of(const Expr& expr);
// Whether there is one anywhere in the expression, subqueries aside (they have their own).
bool has_aggregate(const Expr& expr);
bool has_aggregate(const Select& select);
// A property of a source, or a source itself: c, c.a, c["a"][0].
bool is_path(const Expr& expr);

// The name under which the first source is seen.
std::string root_alias(const Query& query);
// The name of each property of a SELECT list: its alias, its last property, or $1, $2 …
std::vector<std::string> names_of(const Select& select);
// What a row shows, as one expression.
ExprPtr payload_of(const Query& query);
// a AND (filter).
ExprPtr with_filter(ExprPtr where);
// How ORDER BY sorts by this expression.
SortOrder order_of(const Expr& expr, Direction direction, const PlanContext& context);

struct Counts {
  std::optional<uint64_t> top;
  std::optional<uint64_t> offset;
  std::optional<uint64_t> limit;
};
Result<Counts> read_counts(const Query& query, const Parameters& parameters);

// Everything that is wrong with a query before partitions are thought of, and what clients cannot
// merge.
Status check(const Query& query);

Result<HybridSearchInfo> make_hybrid(const Query& query, const Counts& counts,
                                     const PlanContext& context, const Parameters& parameters);

}  // namespace orrery::query::gateway
