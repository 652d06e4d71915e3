// See words.h.
#include "advise/words.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace orrery::advise {

std::string percent(double share) {
  const double value = 100 * share;
  if (value > 0 && value < 0.05) return "under 0.1 %";
  return value < 9.95 && value != 0 ? fmt::format("{:.1f} %", value)
                                    : fmt::format("{:.0f} %", value);
}

std::string number(double value) {
  std::string digits = fmt::format("{:.0f}", std::round(value));
  for (size_t at = digits.size(); at > 3 && digits[at - 4] != '-'; at -= 3) {
    digits.insert(at - 3, ",");
  }
  return digits;
}

std::string bytes_text(double bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "KB", "MB", "GB", "TB"};
  size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", bytes, unit == 0 || bytes >= 100 ? 0 : 1, kUnits[unit]);
}

}  // namespace orrery::advise
