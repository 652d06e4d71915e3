// What the files of the gateway's plan share. See gateway_plan.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/cosmos/query/gateway_plan.h"
#include "base/result.h"
#include "query/parse/ast.h"
#include "query/parse/ast_forms.h"

namespace orrery::cosmos::gateway {

// Largest count of TOP, OFFSET and LIMIT.
inline constexpr uint64_t kMaxCount = 4'294'967'295;

inline constexpr std::string_view kFilter = "({documentdb-formattableorderbyquery-filter})";

// The name of each property of a SELECT list: its alias, its last property, or $1, $2 …
std::vector<std::string> names_of(const query::Select& select);
// What a row shows, as one expression.
query::ExprPtr payload_of(const query::Query& query);
// a AND (filter).
query::ExprPtr with_filter(query::ExprPtr where);
// How ORDER BY sorts by this expression.
SortOrder order_of(const query::Expr& expr, query::Direction direction, const PlanContext& context);

struct Counts {
  std::optional<uint64_t> top;
  std::optional<uint64_t> offset;
  std::optional<uint64_t> limit;
};
Result<Counts> read_counts(const query::Query& query, const query::Parameters& parameters);

// Checks a query by itself, and whether clients can merge it.
Status check(const query::Query& query);

Result<HybridSearchInfo> make_hybrid(const query::Query& query, const Counts& counts,
                                     const PlanContext& context,
                                     const query::Parameters& parameters);

}  // namespace orrery::cosmos::gateway
