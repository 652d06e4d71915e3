// Chooses the access path for an index plan: which of its nodes to read from the index, or a full
// scan of the view. The choice goes by the view's estimates of how many entries each range has.
//
// Costs are in units of reading one index entry. They choose between paths that give the same
// items, and never change the result.
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
  // Whether every key is that of an item which passes the plan's filter: no need to evaluate it
  // again.
  bool is_exact = false;
};

// `wanted`: about how many items the caller will read.
Result<AccessPath> choose_access_path(const KeyReader& reader, const IndexPlan& plan,
                                      size_t wanted);

// A cursor over all keys of the node, whatever it costs. The node is not `everything`.
Result<std::unique_ptr<KeyCursor>> open_keys(const KeyReader& reader, const IndexNode& node);

// Upper bound of the node's estimated cardinality. It is that of the view where the index cannot
// answer the node.
uint64_t estimate_items(const KeyReader& reader, const IndexNode& node);

}  // namespace orrery::query
