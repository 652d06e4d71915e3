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

namespace orrery::query {

// An item as it is read. `body` is JSON and stays in place until the next one is asked for.
struct Document {
  std::string placement;
  std::string row;
  std::string body;
};

// Where items come from, in the order of their keys.
class DocumentSource {
 public:
  virtual ~DocumentSource() = default;
  // The next item, or null after the last one.
  virtual Result<const Document*> next() = 0;
};

// Where a page ended.
struct Position {
  std::string placement;  // of the last item that was read
  std::string row;
  uint64_t rows_of_it = 0;  // how many of its rows are done; 0: all
  uint64_t skipped = 0;     // rows that OFFSET has skipped so far
  uint64_t given = 0;       // rows given out so far
  bool operator==(const Position&) const = default;
};

// Opens the items after a key, or at it; null: from the start.
using OpenSource =
    std::function<Result<std::unique_ptr<DocumentSource>>(const Position* from, bool inclusive)>;

struct PageLimits {
  size_t rows = 100;
  size_t bytes = 4ULL << 20;
  // Asked between items: true ends the page early (time is up, the client has gone).
  std::function<bool()> stop;
};

struct QueryPage {
  std::vector<std::string> rows;  // JSON
  std::optional<Position> next;   // unset: this was the last page
  uint64_t items_read = 0;
  uint64_t bytes_read = 0;
};

Result<QueryPage> run_page(const BoundQuery& query, const OpenSource& open, const Position* from,
                           const PageLimits& limits, Context& context);

}  // namespace orrery::query
