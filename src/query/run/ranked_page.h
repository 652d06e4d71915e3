// One page of a query with ORDER BY RANK.
//
// Every row that passes WHERE has a score for each part of the clause, and by each of them a rank:
// 1 for the best, equal scores sharing one, rows without a score last. Rows come in the order of
// the score, or with RRF of the sum of weight / (60 + rank); equal ones in the order of their keys.
//
// Scores and ranks depend on all the other rows, so each page makes them anew, and goes on by the
// count of rows given: rows that are written between two pages can move others across the border.
// What is kept of a row is its key and its scores, within the limit on a query's memory; the items
// of the page are fetched at the end.
#pragma once

#include "base/result.h"
#include "query/evaluate/bound.h"
#include "query/run/page.h"

namespace orrery::query {

Result<QueryPage> make_ranked_page(const BoundQuery& query, const Reading& reading,
                                   const Position* from, const PageLimits& limits);

}  // namespace orrery::query
