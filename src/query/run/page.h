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
#include "query/plan/item_view.h"
#include "query/run/position.h"
#include "query/run/read_counts.h"
#include "value/value.h"

namespace orrery::query {

// What one page keeps of rows and groups before it gives them out; beyond that it gives fewer. What
// is computed on the way takes kEvaluationBytesMax more at most.
inline constexpr size_t kPageMemoryMax = 64ULL << 20;

// What a page is made from; it outlives the making.
struct Reading {
  ItemSpace& space;
  Context& context;
};

// For ItemScan::next, where every item has to be read.
inline constexpr size_t kAllItems = std::numeric_limits<size_t>::max();

// Gives rows of an ORDER BY numbers by which those with equal order values can be told apart and
// put in order (tie_numbers.h).
inline constexpr uint32_t kTieNumberMax = (1U << 31) - 1;
struct TieNumbering {
  // From which number on a row of the item with this key may have one, below 2^30: a quarter of all
  // numbers is then left for rows after those of the last key. It should grow in the order in which
  // rows with equal order values come: from key to key, down or up as the first order goes.
  std::function<uint32_t(std::string_view key)> least;
  // Puts its number into a row's JSON.
  std::function<void(std::string& row, uint32_t number)> write;
};

struct PageLimits {
  size_t rows = 100;
  size_t bytes = 4ULL << 20;
  // Of the next position; only what was gathered so far depends on it.
  size_t position_bytes = 4096;
  // Whoever asks adds up what the pages give of a group or an aggregate, as clients do by a plan.
  // Then a page that ends early gives what it has gathered instead of keeping it in the position.
  bool gives_parts = false;
  // Asked between items, and while one is computed: true ends the page early (time is up, the
  // client has gone).
  std::function<bool()> stop = nullptr;
  // Not asked before so many steps were taken, so that a short query is answered, and a long one
  // comes further with every page, where the machine stands still for longer than a page may take.
  uint64_t free_steps = 0;
  // When an item was made, as a number that grows, from its JSON. Rows without an order of their
  // own that one page holds all of come in this order. Unset: in that of their keys, as over
  // several pages.
  std::function<uint64_t(std::string_view)> made = nullptr;
  // Unset: rows of an ORDER BY are given as they are.
  std::optional<TieNumbering> ties = std::nullopt;
};

struct QueryPage {
  StringList rows;               // JSON
  std::optional<Position> next;  // unset: this was the last page
  ReadCounts read;
};

// Asked between items: reading one takes steps, too.
bool is_time_up(const PageLimits& limits, Context& context);

Error too_much_memory();
Error too_much_time();
// Of the two, why a budget is over.
Error ended_early(const Budget& budget);

// Appends a row as JSON; false when it is too long, or time was up: then the budget is over.
bool append_row(const value::Value& row, std::string& out, Context& context);

}  // namespace orrery::query
