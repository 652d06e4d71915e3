// A cursor over the keys of items in the order of ORDER BY, read from the index.
#pragma once

#include <string_view>

#include "base/result.h"
#include "value/value.h"

namespace orrery::query {

class OrderCursor {
 public:
  virtual ~OrderCursor() = default;
  // Moves on; false after the last key.
  virtual Result<bool> next() = 0;
  // Valid until it moves.
  virtual std::string_view key() const = 0;
  // Whether the key is listed as that of an item without a value, and only the item can tell: it
  // may have one after all.
  virtual bool is_doubtful() const = 0;
  // Whether the key matches nothing, and the cursor stopped there only so that the caller can check
  // its deadline.
  virtual bool is_pause() const { return false; }
  // The order value, when ORDER BY has a single path; undefined when the index does not hold it.
  virtual value::Value value() const { return {}; }
};

}  // namespace orrery::query
