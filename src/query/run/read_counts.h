// What a page has read: the basis of its charge and of its metrics.
#pragma once

#include <cstdint>

namespace orrery::query {

struct ReadCounts {
  uint64_t items = 0;    // whose bodies were looked at
  uint64_t bytes = 0;    // of them
  uint64_t matched = 0;  // items that gave a row
  uint64_t entries = 0;  // of the index
  bool operator==(const ReadCounts&) const = default;
  ReadCounts& operator+=(const ReadCounts& other) {
    items += other.items;
    bytes += other.bytes;
    matched += other.matched;
    entries += other.entries;
    return *this;
  }
};

}  // namespace orrery::query
