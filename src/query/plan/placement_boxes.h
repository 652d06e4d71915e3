// The partition-key conditions of a filter as a list of boxes: see placement_filter.h.
//
// A box gives for every path of the key a value, an interval of values (range placement only), or
// no constraint. The key must lie in one of the boxes. OR concatenates lists of boxes, AND
// intersects them pairwise. Where AND would look at too many pairs, the shorter list stands for
// both: it is a superset, and so still correct.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "query/plan/placement_filter.h"
#include "value/placement.h"

namespace orrery::query::keys {

// An end of an interval of values at one path, in the bytes of range placement.
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
