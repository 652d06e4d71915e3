// One page of a query with aggregates, GROUP BY or DISTINCT, without ORDER BY: the groups with the
// smallest fingerprints after the position. It keeps only groups that can still be on the page.
// When all groups fit, they are returned in order of arrival.
//
// When time is up before all items have been read, the partial groups go into the position and the
// next page resumes the scan; or, with PageLimits::gives_parts, they are returned.
#pragma once

#include "base/result.h"
#include "query/evaluate/bound.h"
#include "query/run/page.h"

namespace orrery::query {

Result<QueryPage> make_grouped_page(const BoundQuery& query, const PageInput& input,
                                    const Position* from, const PageLimits& limits);

}  // namespace orrery::query
