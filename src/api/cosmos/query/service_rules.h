// Queries that the vendor's service refuses though this engine can run them: with certain clauses
// in subqueries, or with orders that its index does not have. By default they are refused here too,
// so that what works here works there; `--queries permissive` runs them.
//
// The messages are the vendor's, since people search for them.
//
// Pure; any thread may call.
#pragma once

#include <optional>

#include "base/result.h"
#include "query/bind/bind.h"
#include "query/parse/ast.h"
#include "value/terms.h"

namespace orrery::cosmos {

enum class QueryRules : uint8_t {
  service,     // refuse what the service refuses
  permissive,  // run what can be run
};

// Refused by the text alone are TOP, ORDER BY and OFFSET LIMIT in subqueries; ORDER BY an
// expression that is no property of the item, or with GROUP BY; computed subscripts; ORDER BY RANK
// over joins. Empty: not refused.
std::optional<Error> refused_by_service(const query::Query& query);

// ORDER BY one property needs it in the index, and ORDER BY several a composite index of exactly
// these, in these directions or all of them reversed. For queries that are not refused as above.
// Computed properties can be sorted by whatever the index has.
Status check_order_is_indexed(const query::Query& query, const value::IndexPolicy& policy,
                              const query::ComputedProperties& computed);

}  // namespace orrery::cosmos
