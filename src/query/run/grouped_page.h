// One page of a query with aggregates, GROUP BY or DISTINCT (but not ORDER BY): the groups with the
// smallest fingerprints after the position. Of the groups that come it keeps only those that can
// still be on the page; when all of them fit, they are given in the order in which they came.
//
// When time is up before all items were read, what was gathered goes into the position, and the
// next page reads on from there; or it is given as it is, where PageLimits say so.
#pragma once

#include "base/result.h"
#include "query/evaluate/bound.h"
#include "query/run/page.h"

namespace orrery::query {

Result<QueryPage> make_grouped_page(const BoundQuery& query, const Reading& reading,
                                    const Position* from, const PageLimits& limits);

}  // namespace orrery::query
