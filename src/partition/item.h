// An item as a partition keeps it, and what identifies one state of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "value/codec.h"
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

// How long an item lives, as a write says it: so long, from a moment on.
struct Lifetime {
  static constexpr int64_t kForever = -1;
  static constexpr int64_t kByDefault = -2;  // as long as the container says whenever it is read

  int64_t ms = kByDefault;
  std::optional<int64_t> from_ms = {};  // Unix time; unset: from the second of the write
  bool operator==(const Lifetime&) const = default;
};

// When an item expires, as it is stored.
struct Expiry {
  enum class Kind : uint8_t {
    by_default,  // so long after `time_ms` as the container says: a new default holds for old items
    at,          // at `time_ms`
    never,
  };
  Kind kind = Kind::by_default;
  int64_t time_ms = 0;  // Unix time
  bool operator==(const Expiry&) const = default;
};
Expiry expiry_of(const Lifetime& lifetime, uint32_t written_s);

struct Item {
  Version version;
  Origin origin;
  Expiry expiry;
  uint32_t index_version = 0;  // the rules its terms were made by
  std::string body;            // exactly what a read returns
};

struct ItemKey {
  std::string placement;
  std::string row;
  bool operator==(const ItemKey&) const = default;
};

// What a partition has to know of its container to write and read items. An immutable snapshot;
// each write carries the one that was current when it was made.
struct Schema {
  bool indexed = true;  // false: no terms at all, and the body can be anything
  std::shared_ptr<const value::Codec> codec = value::json_codec();  // of the bodies; never changes
  value::IndexPolicy index;
  uint32_t index_version = 1;
  std::vector<std::string> free_paths;  // term paths that every item has, which cost nothing extra
  std::vector<std::vector<value::Path>> unique_keys;  // by number; at most 255
  // Which items claim values of each; null, or missing at the end: all.
  std::vector<std::shared_ptr<const value::Condition>> unique_conditions = {};
  // Unset: nothing expires. Lifetime::kForever: only items that say so themselves.
  std::optional<int64_t> default_life_ms;
  uint64_t logical_bytes_max = UINT64_MAX;
  int64_t history_s = 0;  // how long every write is kept for readers of all of them; 0: not at all
};

bool is_expired(const Item& item, std::optional<int64_t> default_life_ms, int64_t now_ms);

}  // namespace orrery::partition
