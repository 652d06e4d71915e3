// Running a query over the items of one range of keys, page by page.
//
// A query whose rows can be given out as they come reads no further than its page needs, and goes
// on from the item (and the row within it) where it stopped. One that has to see all rows first
// (GROUP BY, ORDER BY, DISTINCT, aggregates) reads all of them for every page, and goes on by
// count.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "query/bound.h"
#include "query/functions/context.h"
#include "query/item_reader.h"
#include "query/item_view.h"

namespace orrery::query {

// Where a page ended.
struct Position {
  std::string key;          // of the last item that was read
  uint64_t rows_of_it = 0;  // how many of its rows are done; 0: all
  uint64_t skipped = 0;     // rows that OFFSET has skipped so far
  uint64_t given = 0;       // rows given out so far
  bool operator==(const Position&) const = default;
};

struct PageLimits {
  size_t rows = 100;
  size_t bytes = 4ULL << 20;
  // Asked between items: true ends the page early (time is up, the client has gone).
  std::function<bool()> stop;
};

struct QueryPage {
  std::vector<std::string> rows;  // JSON
  std::optional<Position> next;   // unset: this was the last page
  ReadCounts read;
};

Result<QueryPage> run_page(const BoundQuery& query, ItemSpace& space, const Position* from,
                           const PageLimits& limits, Context& context);

}  // namespace orrery::query
