// See printable.h.
#include "base/printable.h"

#include <fmt/format.h>

#include <cstdint>

namespace orrery {
namespace {

constexpr char32_t kBroken = 0xFFFD;

// Takes one code point from the front of `text`, which is not empty; kBroken for a byte that begins
// none.
char32_t take_code_point(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const size_t size = first < 0x80           ? 1
                      : (first >> 5) == 0x06 ? 2
                      : (first >> 4) == 0x0E ? 3
                      : (first >> 3) == 0x1E ? 4
                                             : 0;
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (size == 1) {
    text.remove_prefix(1);
    return first;
  }
  char32_t code = size == 0 ? 0 : first & (0xFFU >> (size + 1));
  bool whole = size != 0 && text.size() >= size;
  for (size_t i = 1; whole && i < size; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    whole = (next >> 6) == 0x02;
    code = code << 6 | (next & 0x3FU);
  }
  if (!whole || code < kSmallest[size] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
    text.remove_prefix(1);
    return kBroken;
  }
  text.remove_prefix(size);
  return code;
}

// What a terminal or a reader of lines may take for more than a character: controls, line ends, and
// marks that turn the direction of text.
bool commands_a_terminal(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

}  // namespace

void append_printable(std::string& out, std::string_view text, std::string_view escaped) {
  while (!text.empty()) {
    const std::string_view before = text;
    const char32_t c = take_code_point(text);
    const std::string_view bytes = before.substr(0, before.size() - text.size());
    if (c == kBroken || commands_a_terminal(c)) {
      out += fmt::format("\\u{:04x}", static_cast<uint32_t>(c));
      continue;
    }
    if (bytes.size() == 1 && escaped.contains(bytes[0])) out += '\\';
    out += bytes;
  }
}

}  // namespace orrery
