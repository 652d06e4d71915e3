// The range of stored keys of a range of placements: tells whether an item belongs to the range
// without decoding its key. Pure.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "partition/format.h"
#include "partition/partition.h"

namespace orrery::partition {

struct KeyRange {
  std::string from;
  std::string to;
  bool has(std::string_view item_key) const { return item_key >= from && item_key < to; }
};

// Of placements in [min, max) that the partition owns.
inline KeyRange keys_between(const Partition::Identity& identity, std::string_view min,
                             std::string_view max) {
  return {items_from(std::max(min, std::string_view(identity.min))),
          items_from(std::min(max, std::string_view(identity.max)))};
}

// How many entries out of range one page skips at most: that takes some milliseconds.
inline constexpr size_t kPassedOverMax = 20'000;

}  // namespace orrery::partition
