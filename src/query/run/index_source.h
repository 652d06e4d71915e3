// The items of one view that a query needs: through the index where that is cheaper, else by
// scanning the view. They are a superset of the items that pass WHERE. The caller evaluates WHERE
// again, except on items with `passes`.
//
// Items come in key order, or in the order of ORDER BY. There ties are broken by key, in the
// direction of the first ORDER BY expression, as clients expect. So the order values and the key of
// an item are a position to resume from.
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

// An item, or, when the body is empty, only a key at which the caller can check its deadline and
// resume: the item there has expired, or an index scan has come this far without finding one.
struct SourceItem {
  std::string_view key;
  std::string_view body;
  bool passes = false;  // WHERE is known to be true of it
  // The value of the only ORDER BY expression; null where the index does not hold it.
  const value::Value* order = nullptr;
};

class ItemSource {
 public:
  virtual ~ItemSource() = default;
  // The next item, or null at the end; valid until the next call. `wanted` is how many items the
  // caller expects to read, this one included: it bounds the read-ahead.
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
  Context& context;                                  // the one that the plan was made with
  ReadCounts& counts;                                // what is read is added here
  const value::Codec& codec = *value::json_codec();  // of the view's items
};

// Fetches the items with these keys and calls `give` with the index of the key and the item.
// Expired items are left out.
Status each_item(const SourceSetting& setting, std::span<const std::string> keys,
                 const std::function<void(size_t, const value::Node&)>& give);

// From the first item when `start` is null.
Result<std::unique_ptr<ItemSource>> open_in_key_order(const SourceSetting& setting,
                                                      const SourceStart* start);

// In the order of ORDER BY; `wanted` is about how many items the caller will read. Null when no
// index has the order, or when sorting the filtered items is cheaper. Then the caller sorts what
// open_in_key_order gives. Positions mean the same either way.
Result<std::unique_ptr<ItemSource>> open_in_order(const SourceSetting& setting,
                                                  const SourceStart* start, size_t wanted);

}  // namespace orrery::query
