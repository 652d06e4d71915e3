// One page of a query that combines grouping with ordering or DISTINCT, or that reads a query in
// FROM which has to see all rows first: all its results are made in memory, which is limited, and
// the page is the first of them after the position.
#pragma once

#include "base/result.h"
#include "query/evaluate/bound.h"
#include "query/run/page.h"

namespace orrery::query {

Result<QueryPage> make_gathered_page(const BoundQuery& query, const Reading& reading,
                                     const Position* from, const PageLimits& limits);

}  // namespace orrery::query
