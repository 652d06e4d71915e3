// See etag.h.
#include "api/cosmos/wire/etag.h"

#include <charconv>
#include <limits>

namespace orrery::cosmos {

// xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx: the step (4 digits), the LSN (12), the range, the time.
void append_etag(std::string& out, const partition::Version& version) {
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

std::string etag_text(const partition::Version& version) {
  std::string text;
  append_etag(text, version);
  return text;
}

std::optional<partition::Version> parse_etag(std::string_view text) {
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
  return partition::Version{.lsn = (*a & 0xFFFF) << 32 | *b << 16 | *c,
                            .time_s = static_cast<uint32_t>(*e),
                            .range = static_cast<uint32_t>(*d << 16 | *e >> 32),
                            .step = static_cast<uint16_t>(*a >> 16)};
}

std::optional<partition::Version> parse_etag_condition(std::string_view header) {
  if (header.starts_with("W/")) header.remove_prefix(2);
  if (header.size() >= 2 && header.front() == '"' && header.back() == '"') {
    header = header.substr(1, header.size() - 2);
  }
  if (header == "*") return std::nullopt;
  if (auto version = parse_etag(header)) return version;
  constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();
  return partition::Version{.lsn = kNever, .time_s = 0, .range = 0};
}

std::string etag_text(uint64_t revision, int64_t changed_s) {
  return etag_text(partition::Version{.lsn = revision, .time_s = static_cast<uint32_t>(changed_s)});
}

}  // namespace orrery::cosmos
