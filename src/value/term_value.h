// The encoding of a value in an index term. Comparing the bytes compares the values, in the order
// of the index (type.h). The encoding is prefix-free, so encoded values can be concatenated.
//
// The first byte, the tag, tells the type and the order. So a reader of terms need not know which
// order an index has.
//
//            json                             typed: 20 + kTypedRanks
//   null     01                               22
//   false    02                               29
//   true     03                               2A
//   number   04 double                        23 double side
//   string   05 text                          24 text
//   array    07                               26 text, of: each element as here (typed), then 01
//   object   08                               25 text, of: for each member the tag of its value's
//                                             type, its name as ordered bytes, the value; then 01
//   binary, object_id, guid, date, timestamp, regex, code, min_key, max_key
//            09 to 11                         27 28 2B 2C 2D 2E 2F 20 30
//   (undefined, in what contains values: 00, typed 21)
//
//   double   the nearest one (number.h) as an ordered number (ordered.h); NaN as eight bytes 00
//   side     02: it is that double. 01 or 03: it is below or above. Then follow, all inverted when
//            the number is negative: the exponent of its first digit, plus 8000 (2 bytes,
//            big-endian); its decimal digits, two a byte, plus 1; 00
//   text     ordered bytes (ordered.h). Of more than kMaxTermText bytes only the first
//            kMaxTermText, ending in 00 02 instead of 00 01, then 8 bytes of hash of the whole (of
//            an array or an object: of the whole up to the end of the part that passes the limit)
//   binary   text, of: its size (4 bytes, big-endian), the subtype, the bytes
//   regex    text, of its bytes; code: text, of the subtype and its bytes
//   object_id, guid: their 12 and 16 bytes
//   date     the milliseconds with the sign bit flipped (8 bytes, big-endian), the ticks (2)
//   timestamp  8 bytes, big-endian
//
// Equal values have equal bytes. The order of the bytes is the order of the values, except:
//  - Texts that were cut and have the same first kMaxTermText bytes. A reader that needs their
//    order compares the values.
//  - Arrays and objects in the json order, of which the bytes have only the type.
//  - Numbers in the json order that are not doubles. They have the bytes of the nearest double.
//    JSON itself has no such numbers.
// Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "value/document.h"
#include "value/type.h"
#include "value/value.h"

namespace orrery::value {

inline constexpr size_t kMaxTermText = 1024;
inline constexpr size_t kCutTextHashBytes = 8;

// Undefined has no bytes: what is not there has no term.
void append_term_value(std::string& out, const Value& value, ValueOrder order);
void append_term_value(std::string& out, const Node& node, ValueOrder order = ValueOrder::json);
// In the json order.
void append_term_value(std::string& out, std::string_view text);
void append_term_value(std::string& out, double number);

// The first and the last tag of a type (undefined has one too).
std::pair<char, char> term_tags(Type type, ValueOrder order);
// The type of a tag; nothing when it is none.
std::optional<Type> type_of_tag(char tag);

// How many bytes at the front of `in` are a value, or undefined's tag; 0 when they are none.
// `inverted`: all bits are, as in descending parts of composite terms.
size_t term_value_size(std::string_view in, bool inverted = false);
// Of the bytes of one value, not inverted: whether it was cut, so that they end in a hash.
bool is_cut_term_value(std::string_view bytes);

}  // namespace orrery::value
