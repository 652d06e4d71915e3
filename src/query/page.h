// A page of a query's rows, its limits, and why a query cannot give one.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/string_list.h"
#include "query/functions/context.h"
#include "query/item_view.h"
#include "query/position.h"
#include "query/read_counts.h"

namespace orrery::query {

// What one page keeps of rows and groups before it gives them out; beyond that it gives fewer.
inline constexpr size_t kPageMemoryMax = 64ULL << 20;

// What a page is made from; it outlives the making.
struct Reading {
  ItemSpace& space;
  Context& context;
};

// For ItemReader::next, where every item has to be read.
inline constexpr size_t kAllItems = std::numeric_limits<size_t>::max();

struct PageLimits {
  size_t rows = 100;
  size_t bytes = 4ULL << 20;
  // Of the next position; only what was gathered so far depends on it.
  size_t position_bytes = 4096;
  // Asked between items: true ends the page early (time is up, the client has gone).
  std::function<bool()> stop = nullptr;
};

struct QueryPage {
  StringList rows;               // JSON
  std::optional<Position> next;  // unset: this was the last page
  ReadCounts read;
};

Error too_much_memory();
Error too_much_time();

}  // namespace orrery::query
