// One page of a query with ORDER BY: the first rows after the position. Memory is bounded, since it
// keeps only rows that can still be on the page.
#pragma once

#include "base/result.h"
#include "query/evaluate/bound.h"
#include "query/run/page.h"

namespace orrery::query {

Result<QueryPage> make_ordered_page(const BoundQuery& query, const PageInput& input,
                                    const Position* from, const PageLimits& limits);

}  // namespace orrery::query
