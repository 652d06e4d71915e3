// Running a query over the items of a space, page by page.
//
// A page returns the next rows in the order that position.h defines, and holds no more rows in
// memory than that. There are five kinds of pages:
//   streamed   execute.cc         no clause below: rows are returned as they are read
//   ordered    ordered_page.cc    ORDER BY
//   ranked     ranked_page.cc     ORDER BY RANK
//   grouped    grouped_page.cc    aggregates, GROUP BY, DISTINCT
//   gathered   gathered_page.cc   combinations of these, and queries over such a subquery in FROM:
//                                 all results are made first, within a memory limit
#pragma once

#include "base/result.h"
#include "query/evaluate/bound.h"
#include "query/functions/context.h"
#include "query/plan/item_view.h"
#include "query/run/page.h"

namespace orrery::query {

// `from` is null for the first page.
Result<QueryPage> run_page(const BoundQuery& query, ItemSpace& space, const Position* from,
                           const PageLimits& limits, Context& context);

}  // namespace orrery::query
