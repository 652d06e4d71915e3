// ASCII letters in lower case; all other bytes stay as they are. Pure; any thread may call.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace orrery {

inline void append_lower(std::string& out, std::string_view text) {
  const size_t before = out.size();
  out.resize(before + text.size());
  std::ranges::transform(text, out.begin() + static_cast<ptrdiff_t>(before), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
}

inline std::string lowered(std::string_view text) {
  std::string out;
  append_lower(out, text);
  return out;
}

}  // namespace orrery
