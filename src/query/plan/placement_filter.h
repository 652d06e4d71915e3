// Which placement keys a query can touch: what its WHERE says about the partition key.
//
// The answer may be too wide, never too narrow: every item for which WHERE is true lies in one of
// the ranges. Understood are equality, IN, AND, OR, NOT, BETWEEN and comparisons (those two only
// where placement keeps the order of keys), LIKE without wildcards, ARRAY_CONTAINS over a constant
// list, IS_DEFINED, IS_NULL and IS_BOOL, over the key's paths from any alias that is the container
// or a part of it. Whatever else is said leaves the range as it is.
//
// Hash placement needs all of the key's paths; with hierarchical keys the first levels make a
// range, with range placement the first levels and a stretch of the next one.
//
// Pure; may be called from any thread.
#pragma once

#include <string>
#include <vector>

#include "query/bind/bind.h"
#include "query/parse/ast.h"
#include "value/placement.h"

namespace orrery::query {

// [min, max).
struct PlacementRange {
  std::string min;
  std::string max;

  // Whether one placement key is all that it holds.
  bool is_point() const;
  bool is_everything() const;
  bool operator==(const PlacementRange&) const = default;
};

// More ranges than this become the one that holds them all.
inline constexpr size_t kMaxKeyRanges = 16'384;

// Sorted, apart from one another. Empty when WHERE can be true for no item, and when the query
// reads no items (it has no FROM): then any one partition can answer it.
std::vector<PlacementRange> touched_ranges(const Query& query,
                                           const value::KeyDefinition& definition,
                                           const Parameters& parameters);

// The same ranges as clients know them, in effective keys (value/placement.h): keys that share one
// become one point.
std::vector<PlacementRange> in_effective_keys(std::vector<PlacementRange> ranges,
                                              const value::KeyDefinition& definition);

}  // namespace orrery::query
