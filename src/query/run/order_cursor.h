// Keys of items in the order of ORDER BY, read off the index.
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
  // Whether only the item tells if it belongs here, where there is no value.
  virtual bool is_doubtful() const = 0;
  // Whether the key is not one of those that were asked for: it stands there for the caller to look
  // at its clock.
  virtual bool is_pause() const { return false; }
  // The value at the only path of the order; undefined when the index does not tell it.
  virtual value::Value value() const { return {}; }
};

}  // namespace orrery::query
