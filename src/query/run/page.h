// A page of a query's rows, its limits, and why a query cannot give one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/string_list.h"
#include "query/functions/context.h"
#include "query/plan/index_plan.h"
#include "query/plan/item_view.h"
#include "query/run/part_run.h"
#include "query/run/position.h"
#include "query/run/read_counts.h"
#include "value/value.h"

namespace orrery::query {

// Memory for the rows and groups of one page before it is returned. A page that reaches it returns
// fewer rows. Evaluating expressions may take kEvaluationBytesMax on top.
inline constexpr size_t kPageMemoryMax = 64ULL << 20;

// What a page reads. It outlives the page.
struct PageInput {
  ItemSpace& space;
  Context& context;
  const IndexPlan* plan = nullptr;  // that of the query over this space; null: to be made
};

// For ItemScan::next, where every item has to be read.
inline constexpr size_t kAllItems = std::numeric_limits<size_t>::max();

// Numbers rows that tie in ORDER BY, so that clients can tell them apart and sort them
// (tie_numbers.h).
inline constexpr uint32_t kTieNumberMax = (1U << 31) - 1;
struct TieNumbering {
  // The smallest number for rows of the item with this key, below 2^30. It should not decrease in
  // the order of ties: from key to key, in the direction of the first ORDER BY expression. The
  // bound leaves a quarter of all numbers for counting on after the last key.
  std::function<uint32_t(std::string_view key)> least;
  // Puts its number into a row.
  std::function<void(std::string& row, uint32_t number)> write;
};

struct PageLimits {
  size_t rows = 100;
  size_t bytes = 4ULL << 20;
  // The size limit of the next position. It bounds the progress that a page can hand on.
  size_t position_bytes = 4096;
  // The client adds up the partial aggregates of several pages, as clients that run a plan do. Then
  // a page that runs out of time returns its partial groups, and need not store them in the
  // position.
  bool gives_parts = false;
  // Checked between items and during evaluation: true ends the page early (its deadline has passed,
  // or the client has disconnected).
  std::function<bool()> stop = nullptr;
  // `stop` is not checked before this many steps. So every page makes progress, and a short query
  // is answered whole, even on a machine that stalls for longer than a page may take.
  uint64_t free_steps = 0;
  // The creation order of an item, from its body. When a query without ORDER BY fits on one page,
  // its rows come in this order. Unset: in key order, as over several pages.
  std::function<uint64_t(std::string_view)> made = nullptr;
  // Unset: ties are not numbered.
  std::optional<TieNumbering> ties = std::nullopt;
  // Threads that may read parts of the space; null: none. `stop` is then called on them too, by one
  // at a time.
  Helpers* helpers = nullptr;
};

struct QueryPage {
  StringList rows;               // as the space's codec writes them
  std::optional<Position> next;  // unset: this was the last page
  ReadCounts read;
};

// Checked between items. It also charges the steps that reading an item takes.
bool is_time_up(const PageLimits& limits, Context& context);

Error too_much_memory();
Error too_much_time();
// The one of the two that says why the budget ran out.
Error ended_early(const Budget& budget);

// Appends a row, as the space's codec writes it; false when it is too long, or time was up: then
// the budget is over.
bool append_row(const value::Value& row, std::string& out, const PageInput& input);

}  // namespace orrery::query
