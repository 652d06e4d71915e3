// Partition pruning: which placement keys a query can touch, by what its WHERE says about the
// partition key.
//
// The ranges are a superset: every item for which WHERE is true lies in one of them. Understood are
// equality, IN, AND, OR, NOT, LIKE without wildcards, ARRAY_CONTAINS over a constant list,
// IS_DEFINED, IS_NULL and IS_BOOL, and, where placement keeps the order of keys, BETWEEN and
// comparisons. They may be on the key's paths from any alias of the container or of a part of it.
// Other predicates prune nothing.
//
// Hash placement needs all paths of the key. With hierarchical keys a prefix of the levels gives a
// range. With range placement so does a prefix and an interval of the next level.
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

// Sorted and disjoint. Empty when WHERE is true of no item, and when the query has no FROM and
// reads no items: then any partition can answer it.
std::vector<PlacementRange> touched_ranges(const Query& query,
                                           const value::KeyDefinition& definition,
                                           const Parameters& parameters);

// The same ranges in effective keys (value/placement.h), by which clients know them. Several
// placement keys can have one effective key: they become one point.
std::vector<PlacementRange> in_effective_keys(std::vector<PlacementRange> ranges,
                                              const value::KeyDefinition& definition);

}  // namespace orrery::query
