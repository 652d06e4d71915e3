// Values as a position keeps them from page to page, so that they are read back as they were: in
// JSON, which most of them are, and in bytes what JSON would change.
//
//   kept  = [] undefined | [value] | [0,"<hex>"] when the value has a part that JSON does not have
//   hex   = of the bytes: type (1), then
//           boolean: 00 or 01 | number: kind (1), 8 bytes or a decimal's 16 | string: text |
//           array: count (4), values | object: count (4), names as texts, each with its value |
//           date: milliseconds (8), ticks (4) | timestamp: 8 |
//           what has bytes: subtype (1), text | others: nothing
//   text  = size (4), then so many bytes. All numbers are little-endian.
#pragma once

#include <optional>
#include <string>

#include "value/value.h"

namespace orrery::query {

void append_kept(std::string& out, const value::Value& value);
// Nothing when the form is not what append_kept() gives.
std::optional<value::Value> parse_kept(const value::Value& form);

}  // namespace orrery::query
