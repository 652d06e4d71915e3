// Which keys a filter can match at all: the stretches of a table that a query has to read.
//
// A stretch is a range of stored keys (partition/format.h). From comparisons of PartitionKey and
// RowKey, and how they are joined, come boxes: a range of PartitionKeys and one of RowKeys. A box
// of one PartitionKey is the range of its rows; any other is the range of its partitions, whose
// rows the filter is asked of one by one.
//
// With hash placement the order of PartitionKeys is not that of their places: a box of one
// PartitionKey is still a range of rows, and all others are the whole table.
//
// Pure; any thread may call. The number of boxes is bounded: more are taken together.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/table/auth/grant.h"
#include "api/table/query/filter.h"
#include "value/placement.h"

namespace orrery::table {

// Stored keys in [from, to), which have placement keys in [min, max).
struct Stretch {
  std::string from;
  std::string to;
  std::string min;
  std::string max;
};

// A range of texts.
struct TextRange {
  std::string low;
  bool low_open = false;  // without `low` itself
  std::optional<std::string> high = {};
  bool high_open = false;  // without `high` itself

  bool is_point() const { return high && low == *high && !low_open && !high_open; }
  bool is_empty() const {
    return high && (low > *high || (low == *high && (low_open || high_open)));
  }
};
struct KeyBox {
  TextRange partition;
  TextRange row;
};
inline constexpr size_t kKeyBoxesMax = 64;

// The boxes that everything which the filter can match lies in.
std::vector<KeyBox> key_boxes(const Filter& filter);

// The placement key of a PartitionKey.
std::string place_partition(const value::KeyDefinition& key, std::string_view partition_key);

// In order, without overlap, within what the grant lets be seen.
std::vector<Stretch> stretches_of(const Filter& filter, const KeyRange& granted,
                                  const value::KeyDefinition& key);

}  // namespace orrery::table
