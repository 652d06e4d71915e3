// One page of a query with ORDER BY RANK.
//
// Every row that passes WHERE has a score for each part of the clause, and from it a rank: 1 for
// the best score, the same rank for equal scores, the last rank for rows without a score. The
// result is ordered by the score, or with RRF by the sum of weight / (60 + rank). Ties are broken
// by key.
//
// Ranks depend on all other rows, so each page computes them again, and resumes by the count of
// rows returned. A row that is written between two pages can shift others across the page boundary.
// Only the key and the scores of each row are kept in memory, within the limit of a query; the
// items of the page are fetched at the end.
#pragma once

#include "base/result.h"
#include "query/evaluate/bound.h"
#include "query/run/page.h"

namespace orrery::query {

Result<QueryPage> make_ranked_page(const BoundQuery& query, const PageInput& input,
                                   const Position* from, const PageLimits& limits);

}  // namespace orrery::query
