// Which part of an index plan is worth reading: from what the view says about how many entries its
// ranges have, to a stream of keys, or to the advice to read all items.
//
// Costs are in units of one index entry read on the way. They decide between ways that give the
// same items, never what they are.
#pragma once

#include <cstddef>
#include <memory>

#include "base/result.h"
#include "query/plan/index_plan.h"
#include "query/run/key_cursor.h"

namespace orrery::query {

inline constexpr uint64_t kSeekCost = 8;    // to a place in the index
inline constexpr uint64_t kFetchCost = 27;  // an item by its key, and its evaluation
inline constexpr uint64_t kScanCost = 16;   // the next item in key order, and its evaluation

struct AccessPath {
  std::unique_ptr<KeyCursor> keys;  // null: read all items
  Intersection* pausing = nullptr;  // `keys`, when it is one that pauses
  // Whether every item of the keys passes the plan's filter.
  bool is_exact = false;
};

// For a caller that wants about so many items.
Result<AccessPath> choose_access_path(const KeyReader& reader, const IndexPlan& plan,
                                      size_t wanted);

// All keys of a node that is not everything.
Result<std::unique_ptr<KeyCursor>> open_keys(const KeyReader& reader, const IndexNode& node);

// About how many items a node's keys are of, at most; all of them when no keys tell.
uint64_t estimate_items(const KeyReader& reader, const IndexNode& node);

}  // namespace orrery::query
