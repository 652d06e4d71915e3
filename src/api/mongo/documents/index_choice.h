// Which index of a collection is read for a filter and a sort, by what the partitions estimate.
//
// Blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "api/mongo/bson/error.h"
#include "api/mongo/documents/index_plan.h"
#include "api/mongo/documents/index_walk.h"
#include "api/mongo/documents/scan.h"
#include "api/mongo/handler_context.h"
#include "api/mongo/match/sort.h"
#include "cluster/engine.h"
#include "value/value.h"

namespace orrery::mongo {

struct IndexWanted {
  const value::Value& filter;
  const Sort* sort = nullptr;         // null: any order will do
  bool ties_by_id = false;            // as in direction_for()
  std::optional<uint64_t> most = {};  // how many documents are wanted
  const IndexSpec* only = nullptr;    // the one that must be used
};

struct IndexChoice {
  IndexPlan plan;
  std::vector<IndexLane> lanes;
  bool gives_sort = false;
  bool is_backwards = false;
  uint64_t documents = 0;  // that are likely to be read
};

// Nothing: none helps, or documents have arrays there, or the index is not complete yet.
Answer<std::optional<IndexChoice>> choose_index(const HandlerContext& context,
                                                const cluster::RoutingPtr& routing,
                                                const ScanRange& range, const IndexWanted& wanted);

}  // namespace orrery::mongo
