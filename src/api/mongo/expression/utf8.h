// Steps over UTF-8 by code points. Bytes that are not UTF-8 count as code points of their own.
#pragma once

#include <cstddef>
#include <string_view>

namespace orrery::mongo {

inline bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

// Where the code point that starts at `at` ends.
inline size_t next_code_point(std::string_view text, size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  const size_t size = byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
  size_t end = at + 1;
  while (end < text.size() && end < at + size && is_continuation(text[end])) ++end;
  return end;
}

inline size_t code_points(std::string_view text) {
  size_t count = 0;
  for (size_t at = 0; at < text.size(); at = next_code_point(text, at)) ++count;
  return count;
}

// The byte at which the given code point starts; the end when there are fewer.
inline size_t byte_of_code_point(std::string_view text, size_t index) {
  size_t at = 0;
  while (index-- > 0 && at < text.size()) at = next_code_point(text, at);
  return at;
}

}  // namespace orrery::mongo
