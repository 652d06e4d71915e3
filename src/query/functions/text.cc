// See text.h.
#include "query/functions/text.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <vector>

#include "query/functions/unicode_tables.h"

namespace orrery::query {

namespace {

template <size_t N>
char32_t map_case(const unicode::CaseRange (&ranges)[N], char32_t code) {
  const auto* const found = std::ranges::lower_bound(ranges, code, {}, &unicode::CaseRange::last);
  if (found == std::end(ranges) || code < found->first) return code;
  if ((code - found->first) % static_cast<uint32_t>(found->step) != 0) return code;
  return static_cast<char32_t>(static_cast<int32_t>(code) + found->delta);
}

bool is_ascii_letter(char32_t code, char32_t from) {
  return code >= from && code < from + 26;
}

template <class Map>
std::string map_text(std::string_view text, Map map) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) append_code_point(out, map(next_code_point(text, at)));
  return out;
}

bool continues(char c) {
  return (static_cast<uint8_t>(c) & 0xC0) == 0x80;
}

}  // namespace

char32_t next_code_point(std::string_view text, size_t& at) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(at++);
  if (lead < 0x80) return lead;
  const size_t more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
  if (more == 0 || text.size() - at < more) return lead;
  char32_t code = lead & (0x3F >> more);
  for (size_t i = 0; i < more; ++i) code = (code << 6) | (byte(at + i) & 0x3F);
  at += more;
  return code;
}

void append_code_point(std::string& out, char32_t code) {
  if (code < 0x80) {
    out.push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    out.push_back(static_cast<char>(0xC0 | (code >> 6)));
    out.push_back(static_cast<char>(0x80 | (code & 0x3F)));
  } else if (code < 0x10000) {
    out.push_back(static_cast<char>(0xE0 | (code >> 12)));
    out.push_back(static_cast<char>(0x80 | ((code >> 6) & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (code & 0x3F)));
  } else {
    out.push_back(static_cast<char>(0xF0 | (code >> 18)));
    out.push_back(static_cast<char>(0x80 | ((code >> 12) & 0x3F)));
    out.push_back(static_cast<char>(0x80 | ((code >> 6) & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (code & 0x3F)));
  }
}

size_t count_code_points(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char c) { return !continues(c); }));
}

size_t offset_of(std::string_view text, size_t index) {
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if (continues(text[at])) continue;
    if (index-- == 0) return at;
  }
  return at;
}

size_t find_text(std::string_view text, std::string_view wanted, size_t from) {
  if (from > text.size()) return std::string_view::npos;
  if (wanted.empty()) return from;
  const void* const found =
      memmem(text.data() + from, text.size() - from, wanted.data(), wanted.size());
  return found == nullptr ? std::string_view::npos
                          : static_cast<size_t>(static_cast<const char*>(found) - text.data());
}

// Knuth, Morris and Pratt, from the end to the beginning.
size_t find_last_text(std::string_view text, std::string_view wanted) {
  const size_t size = wanted.size();
  if (size > text.size()) return std::string_view::npos;
  if (size == 0) return text.size();
  const auto from_end = [](std::string_view of, size_t i) { return of[of.size() - 1 - i]; };
  std::vector<uint32_t> borders(size);
  for (size_t i = 1, same = 0; i < size; ++i) {
    while (same > 0 && from_end(wanted, i) != from_end(wanted, same)) same = borders[same - 1];
    if (from_end(wanted, i) == from_end(wanted, same)) ++same;
    borders[i] = static_cast<uint32_t>(same);
  }
  for (size_t i = 0, same = 0; i < text.size(); ++i) {
    while (same > 0 && from_end(text, i) != from_end(wanted, same)) same = borders[same - 1];
    if (from_end(text, i) == from_end(wanted, same)) ++same;
    if (same == size) return text.size() - 1 - i;
  }
  return std::string_view::npos;
}

bool is_space(char32_t code) {
  return (code >= 9 && code <= 13) || code == 0x20 || code == 0x85 || code == 0xA0 ||
         code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 ||
         code == 0x202F || code == 0x205F || code == 0x3000;
}

bool is_word(char32_t code) {
  if (code < 0x80) {
    return is_ascii_letter(code, U'a') || is_ascii_letter(code, U'A') ||
           (code >= U'0' && code <= U'9');
  }
  const auto* const found =
      std::ranges::lower_bound(unicode::kWord, code, {}, &unicode::Range::last);
  return found != std::end(unicode::kWord) && code >= found->first;
}

char32_t to_upper(char32_t code) {
  if (code < 0x80) return is_ascii_letter(code, U'a') ? code - 32 : code;
  return map_case(unicode::kUpper, code);
}

char32_t to_lower(char32_t code) {
  if (code < 0x80) return is_ascii_letter(code, U'A') ? code + 32 : code;
  return map_case(unicode::kLower, code);
}

std::string to_upper(std::string_view text) {
  return map_text(text, [](char32_t code) { return to_upper(code); });
}

std::string to_lower(std::string_view text) {
  return map_text(text, [](char32_t code) { return to_lower(code); });
}

std::string fold_case(std::string_view text) {
  return map_text(text, [](char32_t code) { return to_lower(to_upper(code)); });
}

}  // namespace orrery::query
