// The types of values: those of JSON, and those that other encodings of documents add. Also the
// sort orders of values, which are declared here and not derived.
//
// All numbers are one type with several representations, and compare by their exact values. A
// symbol is decoded as a string. A pointer to a document of another collection, which one encoding
// once had, is decoded as an object.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace orrery::value {

enum class Type : uint8_t {
  undefined,
  null,
  boolean,
  number,
  string,
  array,
  object,
  binary,     // bytes, with a subtype
  object_id,  // 12 bytes
  guid,       // 16 bytes, in the order in which a GUID's digits are written
  date,       // Date
  timestamp,  // 64 bits, unsigned: seconds, then a counter
  regex,      // the pattern, a byte 00, the options
  code,       // a program's text (subtype 0); that, a byte 00, and its scope's encoding (subtype 1)
  min_key,    // in the typed order before, and
  max_key,    // after everything else
};
inline constexpr size_t kTypes = static_cast<size_t>(Type::max_key) + 1;

// How a number is represented. What it is worth does not depend on it: 1, 1.0 and 1.00 are equal.
enum class NumberKind : uint8_t {
  real,  // an IEEE double: all that JSON has
  int32,
  int64,
  decimal,  // IEEE decimal128, as 16 bytes, little-endian, coefficient in binary
};

// A time in UTC. Some encodings have ticks of 100 nanoseconds, which milliseconds alone would lose.
// Others have 64 bits of milliseconds, whose range 64 bits of ticks cannot hold. So both are kept.
struct Date {
  int64_t ms = 0;      // since 1970
  uint32_t ticks = 0;  // of 100 nanoseconds within the millisecond: 0 to 9999
  bool operator==(const Date&) const = default;
};
inline constexpr uint32_t kTicksInMs = 10'000;

// The declared orders. A container's index has one of them, and its terms' bytes follow from it
// (term_value.h).
//   json   types as in the enumeration above, so those that JSON does not have come last. Objects
//          compare by their members in the order of their names: that of the members does not
//          count.
//   typed  types by kTypedRanks. Objects compare member by member as they stand: first the types,
//          then the names, then the values.
// In both: numbers by what they are worth, NaN (all of them are equal) before the others, -0 equal
// to 0; strings by code point; arrays element by element, a shorter one first; binary by size,
// subtype and bytes; regular expressions by pattern and options; code by subtype, then text.
enum class ValueOrder : uint8_t { json, typed };

// By Type. No two are equal.
inline constexpr std::array<uint8_t, kTypes> kTypedRanks = {
    1,   // undefined
    2,   // null
    9,   // boolean
    3,   // number
    4,   // string
    6,   // array
    5,   // object
    7,   // binary
    8,   // object_id
    11,  // guid
    12,  // date
    13,  // timestamp
    14,  // regex
    15,  // code
    0,   // min_key
    16,  // max_key
};

constexpr uint8_t rank_of(Type type, ValueOrder order) {
  const auto at = static_cast<uint8_t>(type);
  return order == ValueOrder::json ? at : kTypedRanks[at];
}

}  // namespace orrery::value
