// See select_members.h.
#include "api/mongo/bson/select_members.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/bytes.h"

namespace orrery::mongo {
namespace {

constexpr size_t kLengthBytes = 4;

// The size of what begins with a length: the length and `extra` bytes that it does not count.
std::optional<size_t> counted(std::string_view rest, size_t extra) {
  if (rest.size() < kLengthBytes) return std::nullopt;
  return size_t{load_u32_le(rest.data())} + extra;
}

// How many bytes at the front of `rest` are a value of this type.
std::optional<size_t> value_size(uint8_t type, std::string_view rest) {
  switch (type) {
    case 0x06:  // undefined
    case 0x0A:  // null
    case 0x7F:  // MaxKey
    case 0xFF:  // MinKey
      return 0;
    case 0x08:  // boolean
      return 1;
    case 0x10:  // int32
      return 4;
    case 0x01:  // double
    case 0x09:  // date
    case 0x11:  // timestamp
    case 0x12:  // int64
      return 8;
    case 0x07:  // ObjectId
      return 12;
    case 0x13:  // decimal
      return 16;
    case 0x02:  // string
    case 0x0D:  // code
    case 0x0E:  // symbol
      return counted(rest, kLengthBytes);
    case 0x03:  // document
    case 0x04:  // array
    case 0x0F:  // code with a scope
      return counted(rest, 0);
    case 0x05:  // binary: its subtype
      return counted(rest, kLengthBytes + 1);
    case 0x0C:  // pointer: an ObjectId
      return counted(rest, kLengthBytes + 12);
    case 0x0B: {  // regular expression: two texts
      const size_t pattern = rest.find('\0');
      if (pattern == std::string_view::npos) return std::nullopt;
      const size_t options = rest.find('\0', pattern + 1);
      if (options == std::string_view::npos) return std::nullopt;
      return options + 1;
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

bool select_members(std::string_view bson, std::span<const std::string> names, std::string& out) {
  if (bson.size() <= kLengthBytes) return false;
  std::string_view rest = bson.substr(kLengthBytes);
  out.assign(kLengthBytes, '\0');
  size_t found = 0;
  while (found < names.size()) {
    if (rest.empty()) return false;
    if (rest.front() == '\0') break;
    const size_t end = rest.find('\0', 1);
    if (end == std::string_view::npos) return false;
    const std::string_view name = rest.substr(1, end - 1);
    const auto size = value_size(static_cast<uint8_t>(rest.front()), rest.substr(end + 1));
    if (!size || *size > rest.size() - end - 1) return false;
    const std::string_view member = rest.substr(0, end + 1 + *size);
    if (std::ranges::find(names, name) != names.end()) {
      out += member;
      ++found;
    }
    rest.remove_prefix(member.size());
  }
  out += '\0';
  store_u32_le(out.data(), static_cast<uint32_t>(out.size()));
  return true;
}

}  // namespace orrery::mongo
