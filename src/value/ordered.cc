// See ordered.h, which has the byte formats.
#include "value/ordered.h"

#include <bit>

#include "base/bytes.h"

namespace orrery::value {

namespace {

constexpr uint64_t kTopBit = uint64_t{1} << 63;

}  // namespace

void append_ordered_bytes(std::string& out, std::string_view bytes) {
  for (;;) {
    const size_t zero = bytes.find('\0');
    out.append(bytes.substr(0, zero));
    if (zero == std::string_view::npos) break;
    out.append("\x00\xFF", 2);
    bytes.remove_prefix(zero + 1);
  }
  out.append("\x00\x01", 2);
}

void append_ordered_number(std::string& out, double number) {
  const auto bits = std::bit_cast<uint64_t>(number == 0 ? 0.0 : number);
  append_u64(out, (bits & kTopBit) != 0 ? ~bits : bits | kTopBit);
}

void append_u64(std::string& out, uint64_t number) {
  char bytes[8];
  store_u64_be(bytes, number);
  out.append(bytes, sizeof bytes);
}

Result<std::string> take_ordered_bytes(std::string_view& in) {
  std::string out;
  std::string_view rest = in;
  for (;;) {
    const size_t zero = rest.find('\0');
    if (zero == std::string_view::npos || zero + 1 == rest.size()) {
      return fail(Code::corrupt, "ordered bytes have no end");
    }
    out.append(rest.substr(0, zero));
    const char mark = rest[zero + 1];
    rest.remove_prefix(zero + 2);
    if (mark == '\x01') break;
    if (mark != '\xFF') return fail(Code::corrupt, "ordered bytes have an unknown mark after 00");
    out.push_back('\0');
  }
  in = rest;
  return out;
}

Result<double> take_ordered_number(std::string_view& in) {
  if (in.size() < 8) return fail(Code::corrupt, "an ordered number is cut short");
  const uint64_t ordered = load_u64_be(in.data());
  in.remove_prefix(8);
  return std::bit_cast<double>((ordered & kTopBit) != 0 ? ordered ^ kTopBit : ~ordered);
}

Result<uint64_t> take_u64(std::string_view& in) {
  if (in.size() < 8) return fail(Code::corrupt, "a 64-bit number is cut short");
  const uint64_t number = load_u64_be(in.data());
  in.remove_prefix(8);
  return number;
}

std::string after_prefix(std::string_view prefix) {
  const size_t last = prefix.find_last_not_of('\xFF');
  if (last == std::string_view::npos) return {};
  std::string out(prefix.substr(0, last + 1));
  out.back() = static_cast<char>(static_cast<uint8_t>(out.back()) + 1);
  return out;
}

}  // namespace orrery::value
