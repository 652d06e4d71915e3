// Conditions on a partition key, as boxes: see placement_filter.h for what they are for.
//
// A box says for every path of the key that it is a value, lies in a stretch of values (range
// placement only), or may be anything. The key must lie in one of the boxes. OR joins lists of
// boxes, AND intersects them pairwise; where that would be too many pairs the shorter list alone
// stands for both, which is wider and so still right.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "query/plan/placement_filter.h"
#include "value/placement.h"

namespace orrery::query::keys {

// One end of a stretch of values of one path, in the bytes of range placement.
struct End {
  enum class Kind : uint8_t {
    with,     // up to this value and with it
    without,  // up to this value and without it
    type,     // where its type begins or ends: bytes that are no value's
  };
  std::string bytes;
  Kind kind = Kind::with;
};

struct PathSet {
  enum class Kind : uint8_t { anything, value, stretch };
  Kind kind = Kind::anything;
  value::KeyPart part;  // value
  End low;              // stretch
  End high;
};

using Box = std::vector<PathSet>;  // one for each path of the key

struct Condition {
  bool is_anything = true;  // then there are no boxes
  std::vector<Box> boxes;
};

Condition anything();
Condition nothing();
// `pairs_left`: how many pairs may still be looked at, in the whole filter.
Condition both_of(Condition a, Condition b, size_t& pairs_left);
Condition either_of(Condition a, Condition b);

// The bytes of one part in range placement.
std::string encode(const value::KeyPart& part);

// The placement keys of all boxes: sorted, merged, at most kMaxKeyRanges.
std::vector<PlacementRange> ranges_of(const Condition& condition,
                                      const value::KeyDefinition& definition);

}  // namespace orrery::query::keys
