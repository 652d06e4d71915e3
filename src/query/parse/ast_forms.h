// Questions about the form of an expression or a query, answered from the syntax tree.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "query/functions/aggregate.h"
#include "query/parse/ast.h"

namespace orrery::query {

bool is_call(const Expr& expr, std::string_view upper_name);
// The aggregate that the expression is a call of, if it is one.
std::optional<Aggregate> aggregate_of(const Expr& expr);
// Whether the expression contains one; those of its subqueries do not count.
bool has_aggregate(const Expr& expr);
bool has_aggregate(const Select& select);
// A property of a source, or a source itself: c, c.a, c["a"][0].
bool is_path(const Expr& expr);
// The name under which the first source is seen.
std::string root_alias(const Query& query);

}  // namespace orrery::query
