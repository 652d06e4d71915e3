// See binary_text.h.
#include "api/mongo/expression/binary_text.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace orrery::mongo {
namespace {

constexpr uint8_t kUuidSubtype = 4;
constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kBase64Url =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::string_view kHexDigits = "0123456789abcdef";

std::string to_base64(std::string_view bytes, std::string_view digits, bool is_padded) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t bits = 0;
    for (size_t j = 0; j < 3; ++j) {
      bits = (bits << 8) | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0);
    }
    for (size_t j = 0; j < 4; ++j) {
      if (i + j <= bytes.size()) {
        text.push_back(digits[(bits >> (18 - 6 * j)) & 63]);
      } else if (is_padded) {
        text.push_back('=');
      }
    }
  }
  return text;
}

std::optional<std::string> of_base64(std::string_view text, std::string_view digits,
                                     bool is_padded) {
  if (is_padded && text.size() % 4 != 0) return std::nullopt;
  for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  if (text.size() % 4 == 1) return std::nullopt;
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const size_t digit = digits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = (bits << 6) | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes.push_back(static_cast<char>((bits >> count) & 0xff));
  }
  return bytes;
}

constexpr std::array<size_t, 4> kUuidDashes = {8, 13, 18, 23};

std::optional<std::string> of_uuid(std::string_view text) {
  if (text.size() != 36) return std::nullopt;
  std::string digits;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_dash = std::ranges::find(kUuidDashes, i) != kUuidDashes.end();
    if (is_dash != (text[i] == '-')) return std::nullopt;
    if (!is_dash) digits += text[i];
  }
  return bytes_of_hex(digits);
}

bool is_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const size_t more = byte < 0x80                   ? 0
                        : byte >= 0xc2 && byte < 0xe0 ? 1
                        : byte >= 0xe0 && byte < 0xf0 ? 2
                        : byte >= 0xf0 && byte < 0xf5 ? 3
                                                      : 4;
    if (more == 4 || i + more >= text.size()) return false;
    for (size_t j = 1; j <= more; ++j) {
      if ((static_cast<unsigned char>(text[i + j]) & 0xc0) != 0x80) return false;
    }
    i += more + 1;
  }
  return true;
}

}  // namespace

std::string hex_text(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    text += kHexDigits[static_cast<unsigned char>(byte) >> 4];
    text += kHexDigits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

std::optional<std::string> bytes_of_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (size_t i = 0; i < text.size(); i += 2) {
    unsigned byte = 0;
    for (size_t j = 0; j < 2; ++j) {
      const char c = text[i + j];
      const size_t digit =
          kHexDigits.find(static_cast<char>(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c));
      if (digit == std::string_view::npos) return std::nullopt;
      byte = byte * 16 + static_cast<unsigned>(digit);
    }
    bytes.push_back(static_cast<char>(byte));
  }
  return bytes;
}

Answer<Value> binary_to_text(const Value& binary, std::string_view format) {
  const std::string_view bytes = binary.bytes();
  const bool is_uuid = binary.subtype() == kUuidSubtype;
  if (format == "uuid" || (format == "auto" && is_uuid)) {
    if (!is_uuid || bytes.size() != 16) {
      return refuse(kConversionFailure,
                    "only a UUID can be shown as one, in $convert with no "
                    "onError value");
    }
    std::string text = hex_text(bytes);
    for (const size_t dash : kUuidDashes) text.insert(dash, 1, '-');
    return Value::make_string(std::move(text));
  }
  if (format == "base64" || format == "auto") {
    return Value::make_string(to_base64(bytes, kBase64, true));
  }
  if (format == "base64url") return Value::make_string(to_base64(bytes, kBase64Url, false));
  if (format == "hex") {
    std::string text = hex_text(bytes);
    std::ranges::transform(text, text.begin(), [](char digit) {
      return digit >= 'a' ? static_cast<char>(digit - 'a' + 'A') : digit;
    });
    return Value::make_string(std::move(text));
  }
  if (format == "utf8") {
    if (!is_utf8(bytes)) {
      return refuse(kConversionFailure,
                    "the bytes are not UTF-8, in $convert with no onError value");
    }
    return Value::make_string(std::string(bytes));
  }
  return refuse(4341125, fmt::format("Invalid 'format' argument for $convert: {}", format));
}

Answer<Value> text_to_binary(std::string_view text, std::string_view format, uint8_t subtype) {
  std::optional<std::string> bytes;
  if (format == "uuid" || (format == "auto" && subtype == kUuidSubtype)) {
    if (subtype == kUuidSubtype) bytes = of_uuid(text);
  } else if (subtype == kUuidSubtype) {
    // A UUID is written as one.
  } else if (format == "base64" || format == "auto") {
    bytes = of_base64(text, kBase64, true);
  } else if (format == "base64url") {
    bytes = of_base64(text, kBase64Url, false);
  } else if (format == "hex") {
    bytes = bytes_of_hex(text);
  } else if (format == "utf8") {
    bytes = std::string(text);
  } else {
    return refuse(4341125, fmt::format("Invalid 'format' argument for $convert: {}", format));
  }
  if (!bytes) {
    return refuse(kConversionFailure,
                  fmt::format("Input is not a valid {} string, in $convert with "
                              "no onError value: {}",
                              format, text));
  }
  return Value::make_bytes(Type::binary, std::move(*bytes), subtype);
}

}  // namespace orrery::mongo
