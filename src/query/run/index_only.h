// What a query with aggregates, GROUP BY or DISTINCT needs to know of the items of a view, read off
// the index: items that it cannot tell apart come once, with their number, as a stand-in that has
// nothing but the value that the query looks at. Items whose value an entry does not tell (arrays,
// objects, long strings) are read and come as they are.
//
// Only where every entry is that of an item, and in no particular order: there is no place to go on
// from, so a page reads all of it or none.
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
  // They have passed the filter, which looks at more than the stand-in has.
  bool passes = false;
};

class AlikeSource {
 public:
  virtual ~AlikeSource() = default;
  // The next ones, or null after the last.
  virtual Result<const AlikeItems*> next() = 0;
};

// Null when the items must be read.
Result<std::unique_ptr<AlikeSource>> open_alike(const SourceSetting& setting);

}  // namespace orrery::query
