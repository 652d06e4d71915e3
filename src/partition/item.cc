// See item.h.
#include "partition/item.h"

#include <fmt/format.h>

#include <charconv>

namespace orrery::partition {

// xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx: the LSN, then the range, then the time.
std::string to_text(const Version& version) {
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:04x}{:08x}", version.lsn >> 32,
                     (version.lsn >> 16) & 0xFFFF, version.lsn & 0xFFFF, version.range >> 16,
                     version.range & 0xFFFF, version.time_s);
}

std::optional<Version> parse_version(std::string_view text) {
  if (text.size() != 36 || text[8] != '-' || text[13] != '-' || text[18] != '-' ||
      text[23] != '-') {
    return std::nullopt;
  }
  auto hex = [&](size_t at, size_t digits) -> std::optional<uint64_t> {
    uint64_t number = 0;
    auto [end, error] = std::from_chars(text.data() + at, text.data() + at + digits, number, 16);
    if (error != std::errc() || end != text.data() + at + digits) return std::nullopt;
    return number;
  };
  auto a = hex(0, 8), b = hex(9, 4), c = hex(14, 4), d = hex(19, 4), e = hex(24, 12);
  if (!a || !b || !c || !d || !e) return std::nullopt;
  return Version{.lsn = *a << 32 | *b << 16 | *c,
                 .time_s = static_cast<uint32_t>(*e),
                 .range = static_cast<uint32_t>(*d << 16 | *e >> 32)};
}

bool is_expired(const Item& item, const Schema& schema, int64_t now_s) {
  if (!schema.default_ttl_s) return false;
  int32_t ttl_s = item.ttl_s.value_or(*schema.default_ttl_s);
  return ttl_s > 0 && now_s >= static_cast<int64_t>(item.version.time_s) + ttl_s;
}

}  // namespace orrery::partition
