// See bytes.h. Tables are made at compile time; nothing here depends on the locale.
#include "base/bytes.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace orrery {

namespace {

constexpr std::string_view kHexUpper = "0123456789ABCDEF";
constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr uint8_t kNoDigit = 0xFF;

constexpr std::array<uint8_t, 256> make_base64_values() {
  std::array<uint8_t, 256> values{};
  values.fill(kNoDigit);
  for (size_t i = 0; i < kBase64.size(); ++i) {
    values[static_cast<uint8_t>(kBase64[i])] = static_cast<uint8_t>(i);
  }
  return values;
}
constexpr auto kBase64Values = make_base64_values();

uint8_t hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<uint8_t>(c - '0');
  if (c >= 'A' && c <= 'F') return static_cast<uint8_t>(c - 'A' + 10);
  if (c >= 'a' && c <= 'f') return static_cast<uint8_t>(c - 'a' + 10);
  return kNoDigit;
}

char ascii_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool needs_no_escape(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.' || c == '~';
}

}  // namespace

std::string to_hex_upper(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    out.push_back(kHexUpper[byte >> 4]);
    out.push_back(kHexUpper[byte & 15]);
  }
  return out;
}

Result<std::string> from_hex(std::string_view hex) {
  if (hex.size() % 2 != 0) {
    return fail(Code::invalid, "hexadecimal text has an odd number of digits (" +
                                   std::to_string(hex.size()) + ")");
  }
  std::string out;
  out.reserve(hex.size() / 2);
  for (size_t i = 0; i < hex.size(); i += 2) {
    const uint8_t high = hex_digit(hex[i]);
    const uint8_t low = hex_digit(hex[i + 1]);
    if (high == kNoDigit || low == kNoDigit) {
      return fail(Code::invalid, "not a hexadecimal digit at offset " +
                                     std::to_string(high == kNoDigit ? i : i + 1));
    }
    out.push_back(static_cast<char>(high << 4 | low));
  }
  return out;
}

std::string to_base64(std::string_view bytes) {
  // Written in place: an append a digit costs more than the digit.
  std::string out((bytes.size() + 2) / 3 * 4, '=');
  char* to = out.data();
  size_t i = 0;
  const auto at = [&](size_t index) { return uint32_t{static_cast<uint8_t>(bytes[index])}; };
  for (; i + 3 <= bytes.size(); i += 3) {
    const uint32_t group = at(i) << 16 | at(i + 1) << 8 | at(i + 2);
    *to++ = kBase64[group >> 18];
    *to++ = kBase64[group >> 12 & 63];
    *to++ = kBase64[group >> 6 & 63];
    *to++ = kBase64[group & 63];
  }
  const size_t rest = bytes.size() - i;
  if (rest == 0) return out;
  const uint32_t group = at(i) << 16 | (rest == 2 ? at(i + 1) << 8 : 0);
  *to++ = kBase64[group >> 18];
  *to++ = kBase64[group >> 12 & 63];
  if (rest == 2) *to++ = kBase64[group >> 6 & 63];
  return out;
}

Result<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) {
    return fail(Code::invalid,
                "base64 text must have a multiple of 4 characters, padded with =; "
                "it has " +
                    std::to_string(text.size()));
  }
  size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  const std::string_view digits = text.substr(0, text.size() - padding);

  // Whole groups first: four digits, three bytes, written in place because an append a group costs
  // more than the group.
  std::string out(text.size() / 4 * 3, '\0');
  char* to = out.data();
  size_t start = 0;
  for (; start + 4 <= digits.size(); start += 4) {
    const uint32_t a = kBase64Values[static_cast<uint8_t>(digits[start])];
    const uint32_t b = kBase64Values[static_cast<uint8_t>(digits[start + 1])];
    const uint32_t c = kBase64Values[static_cast<uint8_t>(digits[start + 2])];
    const uint32_t d = kBase64Values[static_cast<uint8_t>(digits[start + 3])];
    if ((a | b | c | d) >= kBase64.size()) break;  // below, which says where
    const uint32_t group = a << 18 | b << 12 | c << 6 | d;
    *to++ = static_cast<char>(group >> 16);
    *to++ = static_cast<char>(group >> 8);
    *to++ = static_cast<char>(group);
  }
  out.resize(static_cast<size_t>(to - out.data()));
  uint32_t held = 0;
  int held_bits = 0;
  for (size_t i = start; i < digits.size(); ++i) {
    const uint8_t value = kBase64Values[static_cast<uint8_t>(digits[i])];
    if (value == kNoDigit) {
      return fail(Code::invalid, "not a base64 digit at offset " + std::to_string(i));
    }
    held = held << 6 | value;
    held_bits += 6;
    if (held_bits >= 8) {
      held_bits -= 8;
      out.push_back(static_cast<char>(held >> held_bits & 0xFF));
      held &= (1U << held_bits) - 1;
    }
  }
  if (held != 0) {
    return fail(Code::invalid, "base64 text ends in bits that belong to no byte");
  }
  return out;
}

std::string percent_encode(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (const char c : bytes) {
    if (needs_no_escape(c)) {
      out.push_back(c);
    } else {
      const auto byte = static_cast<uint8_t>(c);
      out.push_back('%');
      out.push_back(kHexUpper[byte >> 4]);
      out.push_back(kHexUpper[byte & 15]);
    }
  }
  return out;
}

Result<std::string> percent_decode(std::string_view text) {
  const size_t first = text.find('%');
  if (first == std::string_view::npos) return std::string(text);
  // In place: what is decoded is never longer.
  std::string out(text);
  char* to = out.data() + first;
  for (size_t i = first; i < text.size(); ++i) {
    if (text[i] != '%') {
      *to++ = text[i];
      continue;
    }
    const bool has_two = text.size() - i > 2;
    const uint8_t high = has_two ? hex_digit(text[i + 1]) : kNoDigit;
    const uint8_t low = has_two ? hex_digit(text[i + 2]) : kNoDigit;
    if (high == kNoDigit || low == kNoDigit) {
      return fail(Code::invalid, "% at offset " + std::to_string(i) +
                                     " is not followed by two hexadecimal digits");
    }
    *to++ = static_cast<char>(high << 4 | low);
    i += 2;
  }
  out.resize(static_cast<size_t>(to - out.data()));
  return out;
}

bool equal_constant_time(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  // volatile: the compiler may not turn the loops into ones that stop early. Eight bytes at a time,
  // because each step waits for the one before it to be stored.
  volatile uint64_t difference = 0;
  size_t at = 0;
  for (uint64_t x = 0, y = 0; at + sizeof x <= a.size(); at += sizeof x) {
    std::memcpy(&x, a.data() + at, sizeof x);
    std::memcpy(&y, b.data() + at, sizeof y);
    difference = difference | (x ^ y);
  }
  for (; at < a.size(); ++at) difference = difference | static_cast<uint8_t>(a[at] ^ b[at]);
  return difference == 0;
}

bool equals_ignore_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i] && ascii_lower(a[i]) != ascii_lower(b[i])) return false;
  }
  return true;
}

}  // namespace orrery
