// The values of a row's ORDER BY expressions: how they compare, and how a position encodes them.
#pragma once

#include <compare>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "query/evaluate/bound.h"
#include "query/evaluate/evaluate.h"
#include "value/value.h"

namespace orrery::query {

using OrderValues = std::vector<value::Value>;

// Of the row at hand; borrowed from it.
OrderValues order_values_of(const BoundQuery& query, Frame& frame);
OrderValues to_owned(const OrderValues& values);
size_t memory_of(const OrderValues& values);

// Less: `a` comes before `b`, with ASC and DESC applied.
std::strong_ordering compare(const BoundQuery& query, const OrderValues& a, const OrderValues& b);

// A JSON array of what kept_value.h makes of each.
std::string to_json(const OrderValues& values);
// As many as ORDER BY has; Code::invalid otherwise.
Result<OrderValues> parse_order_values(const BoundQuery& query, const std::string& json);

// The error for a position without order values, when they can no longer be read from the row.
Error order_values_gone();

}  // namespace orrery::query
