// One page of a query that combines grouping with ORDER BY or DISTINCT, or that has a subquery in
// FROM which must see all rows first. All results are computed in memory, within a limit, and the
// page is cut out of them after the position.
#pragma once

#include "base/result.h"
#include "query/evaluate/bound.h"
#include "query/run/page.h"

namespace orrery::query {

Result<QueryPage> make_gathered_page(const BoundQuery& query, const PageInput& input,
                                     const Position* from, const PageLimits& limits);

}  // namespace orrery::query
