// Index-only scans, for queries with aggregates, GROUP BY or DISTINCT that look at one value of
// each item at most. Items that the query cannot tell apart come as one, with their count, as a
// stand-in that has nothing but that value. Where the index does not hold the value (arrays,
// objects, long strings), the items are fetched and come one by one.
//
// An index-only scan needs every entry to be that of an item which still exists. It gives no order
// and has no position to resume from, so a page reads all of it or none.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "query/run/index_source.h"
#include "value/value.h"

namespace orrery::query {

struct AlikeItems {
  value::Value item;  // owned, or valid until the next ones
  uint64_t count = 0;
  // Whether the items have passed the filter. It may look at values that the stand-in lacks, so it
  // cannot be evaluated on that.
  bool passes = false;
};

class AlikeSource {
 public:
  virtual ~AlikeSource() = default;
  // The next ones, or null after the last.
  virtual Result<const AlikeItems*> next() = 0;
};

// Null when no index-only scan is possible, or reading the items is cheaper.
Result<std::unique_ptr<AlikeSource>> open_alike(const SourceSetting& setting);

}  // namespace orrery::query
