// The operators of the language on values.
//
//   arithmetic   numbers only, IEEE doubles (1/0 is Infinity, a number); % is the remainder with
//                the sign of the dividend
//   bitwise      as in JavaScript: on 32-bit integers, shifts by the low five bits of the count;
//                >>> gives an unsigned result
//   = !=         undefined when a side is undefined. Values of different types are not equal: the
//                documentation says "undefined" of them, but clients expect `c.a != null` to be
//                true of a string
//   < <= > >=    undefined unless both sides are null, booleans, numbers or strings of one type
//   AND OR NOT   three-valued; what is no boolean counts as undefined
//   ??           the left side unless it is undefined (null stays)
//   ?:           the second value unless the condition is true
//   ||           strings only
#pragma once

#include <cstdint>

#include "value/value.h"

namespace orrery::query {

using value::Value;

enum class Binary : uint8_t {
  add,
  subtract,
  multiply,
  divide,
  modulo,
  bit_and,
  bit_or,
  bit_xor,
  shift_left,
  shift_right,
  shift_right_unsigned,
  equal,
  not_equal,
  less,
  less_or_equal,
  greater,
  greater_or_equal,
  logical_and,
  logical_or,
  concat,
  coalesce,
};
enum class Unary : uint8_t { plus, minus, bit_not, logical_not };

Value apply(Binary operation, const Value& left, const Value& right);
Value apply(Unary operation, const Value& operand);

// `value BETWEEN low AND high`: value >= low AND value <= high.
Value is_between(const Value& value, const Value& low, const Value& high);
const Value& choose(const Value& condition, const Value& when_true, const Value& otherwise);

}  // namespace orrery::query
