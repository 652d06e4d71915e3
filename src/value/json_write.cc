// Writing JSON scalars as JavaScript's JSON.stringify does; the declarations are in json.h.
#include <charconv>
#include <cmath>

#include "value/json.h"

namespace orrery::value {

namespace {

constexpr std::string_view kHexLower = "0123456789abcdef";

// The letter of a control character's short escape, or 0.
char short_escape(char c) {
  switch (c) {
    case '\b':
      return 'b';
    case '\f':
      return 'f';
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    default:
      return 0;
  }
}

constexpr size_t kStretch = 16;  // a vector of every processor

// Whether any of kStretch bytes is to be escaped. No branch for a byte: the compiler makes vectors
// of it.
bool has_special(const char* text) {
  uint8_t special = 0;
  for (size_t i = 0; i < kStretch; ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    special |= static_cast<uint8_t>((byte < 0x20 ? 1 : 0) | (byte == '"' ? 1 : 0) |
                                    (byte == '\\' ? 1 : 0));
  }
  return special != 0;
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out.push_back('"');
  size_t plain = 0;  // start of what needs no escape and is not written yet
  for (size_t i = 0; i < text.size(); ++i) {
    while (text.size() - i >= kStretch && !has_special(text.data() + i)) i += kStretch;
    if (i == text.size()) break;
    const char c = text[i];
    if (static_cast<uint8_t>(c) >= 0x20 && c != '"' && c != '\\') continue;
    out.append(text.substr(plain, i - plain));
    plain = i + 1;
    out.push_back('\\');
    if (c == '"' || c == '\\') {
      out.push_back(c);
    } else if (const char letter = short_escape(c); letter != 0) {
      out.push_back(letter);
    } else {
      out.append("u00");
      out.push_back(kHexLower[static_cast<uint8_t>(c) >> 4]);
      out.push_back(kHexLower[static_cast<uint8_t>(c) & 15]);
    }
  }
  out.append(text.substr(plain));
  out.push_back('"');
}

void append_json_number(std::string& out, double number) {
  if (!std::isfinite(number)) {
    out.append("null");
    return;
  }
  char buffer[32];
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (std::abs(number) < kExact && number == std::trunc(number)) {
    const auto result = std::to_chars(buffer, buffer + sizeof buffer, static_cast<int64_t>(number));
    out.append(buffer, static_cast<size_t>(result.ptr - buffer));
    return;
  }
  if (number < 0) out.push_back('-');
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, std::abs(number),
                                    std::chars_format::scientific);
  // d[.ddd]e±dd, taken apart into digits and the place of the point.
  const std::string_view written(buffer, static_cast<size_t>(result.ptr - buffer));
  const size_t exponent_at = written.find('e');
  std::string digits(1, written.front());
  if (exponent_at > 2) digits.append(written.substr(2, exponent_at - 2));
  int exponent = 0;
  std::from_chars(written.data() + exponent_at + 2, result.ptr, exponent);
  if (written[exponent_at + 1] == '-') exponent = -exponent;

  const int count = static_cast<int>(digits.size());
  const int point = exponent + 1;  // digits before the point
  if (count <= point && point <= 21) {
    out.append(digits).append(static_cast<size_t>(point - count), '0');
  } else if (0 < point && point <= 21) {
    out.append(digits, 0, static_cast<size_t>(point)).append(1, '.');
    out.append(digits, static_cast<size_t>(point));
  } else if (-6 < point && point <= 0) {
    out.append("0.").append(static_cast<size_t>(-point), '0').append(digits);
  } else {
    out.push_back(digits.front());
    if (count > 1) out.append(1, '.').append(digits, 1);
    out.push_back('e');
    out.push_back(exponent < 0 ? '-' : '+');
    out.append(std::to_string(std::abs(exponent)));
  }
}

}  // namespace orrery::value
