// Order-preserving encodings: comparing the bytes compares the values, and no encoding is a prefix
// of another of its kind, so they can be put one after the other in a key.
//
//   bytes    00 → 00 FF, end → 00 01. Everything else as it is.
//   number   IEEE double, big-endian, sign bit flipped (negative: all bits flipped); -0 as 0.
//   u64      big-endian.
//
// The same encodings are written in docs/formats/partition.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace orrery::value {

void append_ordered_bytes(std::string& out, std::string_view bytes);
void append_ordered_number(std::string& out, double number);
void append_u64(std::string& out, uint64_t number);

// Each takes its encoding off the front of `in`. Malformed input is an error (Code::corrupt).
Result<std::string> take_ordered_bytes(std::string_view& in);
Result<double> take_ordered_number(std::string_view& in);
Result<uint64_t> take_u64(std::string_view& in);

// The first byte string after all those that start with `prefix`; empty when there is none.
std::string after_prefix(std::string_view prefix);

}  // namespace orrery::value
