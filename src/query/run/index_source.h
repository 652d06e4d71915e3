// The items of a view that a query needs, found through the index where it serves, and by reading
// all items where it does not. What comes is a superset of the items that WHERE lets through: the
// caller evaluates it again, unless an item says that it passes.
//
// Items come in the order of their keys, or in the order of ORDER BY. Items with equal order values
// come in the order of their keys, in the direction of the first ORDER BY expression, as clients
// expect: so an item's order values and its key are a place to go on from.
//
// Threading: as the view, one thread at a time. A source lives no longer than its view and plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "query/functions/context.h"
#include "query/plan/index_plan.h"
#include "query/plan/item_view.h"
#include "query/run/read_counts.h"
#include "value/value.h"

namespace orrery::query {

// An item on its way. An empty body means that there is none to be seen, only a place where the
// caller can look at its clock: it has expired, or a long walk over the index has come this far.
struct SourceItem {
  std::string_view key;
  std::string_view body;
  bool passes = false;  // WHERE is known to be true of it
  // Of the only ORDER BY expression, where the index tells it.
  const value::Value* order = nullptr;
};

class ItemSource {
 public:
  virtual ~ItemSource() = default;
  // The next item, or null after the last one; valid until the next call. `wanted` is how many more
  // the caller thinks it will take, this one included: not many more bodies are read ahead.
  virtual Result<const SourceItem*> next(size_t wanted) = 0;
};

// Where to start: after this item, or at it.
struct SourceStart {
  std::vector<value::Value> values;  // of the ORDER BY expressions; none in key order
  std::string key;
  bool inclusive = false;
};

// What a source reads, and with what. All of it outlives the source.
struct SourceSetting {
  ItemView& view;
  const IndexPlan& plan;
  Context& context;    // the one that the plan was made with
  ReadCounts& counts;  // what is read is added here
};

// Reads the items of some keys and gives each that is to be seen, with its place among the keys.
Status each_item(const SourceSetting& setting, std::span<const std::string> keys,
                 const std::function<void(size_t, const value::Node&)>& give);

// From the first item when `start` is null.
Result<std::unique_ptr<ItemSource>> open_in_key_order(const SourceSetting& setting,
                                                      const SourceStart* start);

// In the order of ORDER BY, for a caller that wants about so many items. Null when the index does
// not serve the order, or when sorting what the filter lets through is cheaper: the caller sorts
// what open_in_key_order gives. (Places mean the same either way.)
Result<std::unique_ptr<ItemSource>> open_in_order(const SourceSetting& setting,
                                                  const SourceStart* start, size_t wanted);

}  // namespace orrery::query
