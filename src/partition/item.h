// An item as a partition keeps it, and what identifies one state of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "value/path.h"
#include "value/terms.h"

namespace orrery::partition {

// One state of one item. Every write gives it the partition's next LSN, so that (range, lsn) names
// a write within a container, and lsn alone orders the writes of one item, across splits too.
struct Version {
  uint64_t lsn = 0;
  uint32_t time_s = 0;  // by the clock: see time_order.h
  uint32_t range = 0;   // the partition that took the write
  uint16_t step = 0;    // among the writes of its transaction, which share the LSN
  bool operator==(const Version&) const = default;
};

// The partition that made the item, and how many it had made by then; it stays when the item is
// replaced.
struct Origin {
  uint32_t range = 0;
  uint64_t number = 0;
  bool operator==(const Origin&) const = default;
};

struct Item {
  Version version;
  Origin origin;
  std::optional<int32_t> ttl_s;  // the item's own
  uint32_t index_version = 0;    // the rules its terms were made by
  std::string body;              // exactly what a read returns
};

struct ItemKey {
  std::string placement;
  std::string row;
  bool operator==(const ItemKey&) const = default;
};

// What a partition has to know of its container to write and read items. An immutable snapshot;
// each write carries the one that was current when it was made.
struct Schema {
  bool indexed = true;  // false: no terms at all, and the body need not be JSON
  value::IndexPolicy index;
  uint32_t index_version = 1;
  std::vector<std::string> free_paths;  // term paths that every item has, which cost nothing extra
  std::vector<std::vector<value::Path>> unique_keys;  // never changes; at most 255
  std::optional<int32_t> default_ttl_s;  // unset: nothing expires; -1: only items with their own
  uint64_t logical_bytes_max = UINT64_MAX;
  int64_t history_s = 0;  // how long every write is kept for readers of all of them; 0: not at all
};

bool is_expired(const Item& item, std::optional<int32_t> default_ttl_s, int64_t now_s);

}  // namespace orrery::partition
