// See item.h.
#include "partition/item.h"

#include <charconv>

namespace orrery::partition {

// xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx: the step (4 digits), the LSN (12), the range, the time.
void append_text(std::string& out, const Version& version) {
  // On the path of every read and write, so by hand.
  constexpr std::string_view kDigits = "0123456789abcdef";
  const size_t start = out.size();
  out.append(36, '-');
  auto put = [&](size_t at, size_t digits, uint64_t number) {
    for (size_t i = digits; i-- > 0; number >>= 4) out[start + at + i] = kDigits[number & 0xF];
  };
  put(0, 4, version.step);
  put(4, 4, version.lsn >> 32);
  put(9, 4, version.lsn >> 16);
  put(14, 4, version.lsn);
  put(19, 4, version.range >> 16);
  put(24, 4, version.range);
  put(28, 8, version.time_s);
}

std::string to_text(const Version& version) {
  std::string text;
  append_text(text, version);
  return text;
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
  return Version{.lsn = (*a & 0xFFFF) << 32 | *b << 16 | *c,
                 .time_s = static_cast<uint32_t>(*e),
                 .range = static_cast<uint32_t>(*d << 16 | *e >> 32),
                 .step = static_cast<uint16_t>(*a >> 16)};
}

bool is_expired(const Item& item, std::optional<int32_t> default_ttl_s, int64_t now_s) {
  if (!default_ttl_s) return false;
  const int32_t ttl_s = item.ttl_s.value_or(*default_ttl_s);
  return ttl_s > 0 && now_s >= static_cast<int64_t>(item.version.time_s) + ttl_s;
}

}  // namespace orrery::partition
