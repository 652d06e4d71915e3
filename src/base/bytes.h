// Bytes as text and as numbers: hexadecimal, base64, percent escapes, comparisons, and integers in
// a stated byte order. Pure functions; any thread may call them.
//
// The decoders take bytes from outside: they accept exactly what the encoders may write (either
// case of hexadecimal digits) and answer Code::invalid to everything else.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/result.h"

namespace orrery {

std::string to_hex_upper(std::string_view bytes);
Result<std::string> from_hex(std::string_view hex);

// The standard alphabet (+ and /), always padded. Decoding is strict: no white space, no missing
// padding, and the unused bits of the last digit are zero, so each byte string has one spelling.
std::string to_base64(std::string_view bytes);
Result<std::string> from_base64(std::string_view text);

// %XX escapes. Encoding escapes everything but letters, digits and - _ . ~ ; decoding leaves + as
// it is (paths and header values are not forms).
std::string percent_encode(std::string_view bytes);
Result<std::string> percent_decode(std::string_view text);

// For secrets: takes the same time wherever the first difference is. The lengths are not secret.
bool equal_constant_time(std::string_view a, std::string_view b);
// ASCII letters only, as in header names.
bool equals_ignore_case(std::string_view a, std::string_view b);

// Integers in a stated byte order; `from` and `to` need no alignment and must have the bytes.
namespace bytes_detail {

template <class T, std::endian kOrder>
T load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return std::endian::native == kOrder ? value : std::byteswap(value);
}

template <class T, std::endian kOrder>
void store(void* to, T value) {
  if (std::endian::native != kOrder) value = std::byteswap(value);
  std::memcpy(to, &value, sizeof(T));
}

}  // namespace bytes_detail

inline uint16_t load_u16_le(const void* from) {
  return bytes_detail::load<uint16_t, std::endian::little>(from);
}
inline uint32_t load_u32_le(const void* from) {
  return bytes_detail::load<uint32_t, std::endian::little>(from);
}
inline uint64_t load_u64_le(const void* from) {
  return bytes_detail::load<uint64_t, std::endian::little>(from);
}
inline uint16_t load_u16_be(const void* from) {
  return bytes_detail::load<uint16_t, std::endian::big>(from);
}
inline uint32_t load_u32_be(const void* from) {
  return bytes_detail::load<uint32_t, std::endian::big>(from);
}
inline uint64_t load_u64_be(const void* from) {
  return bytes_detail::load<uint64_t, std::endian::big>(from);
}
inline void store_u16_le(void* to, uint16_t value) {
  bytes_detail::store<uint16_t, std::endian::little>(to, value);
}
inline void store_u32_le(void* to, uint32_t value) {
  bytes_detail::store<uint32_t, std::endian::little>(to, value);
}
inline void store_u64_le(void* to, uint64_t value) {
  bytes_detail::store<uint64_t, std::endian::little>(to, value);
}
inline void store_u16_be(void* to, uint16_t value) {
  bytes_detail::store<uint16_t, std::endian::big>(to, value);
}
inline void store_u32_be(void* to, uint32_t value) {
  bytes_detail::store<uint32_t, std::endian::big>(to, value);
}
inline void store_u64_be(void* to, uint64_t value) {
  bytes_detail::store<uint64_t, std::endian::big>(to, value);
}

}  // namespace orrery
