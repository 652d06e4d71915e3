// The exact value of a number, whichever of the kinds (type.h) it is written as.
//
// Every number here is a double, or has at most 34 decimal digits. Numbers are compared in three
// steps: by the nearest double; then by the side of that double on which they lie; then, if both
// tie, by their digits. Rounding to the nearest double is monotonic, so this is the exact numeric
// order. Finite numbers beyond the largest double count as above it, and numbers too close to 0 for
// a double as just beside 0.
//
// The bytes of a term have the same three parts (term_value.h). Pure.
#pragma once

#include <array>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace orrery::value {

inline constexpr size_t kDecimalBytes = 16;
inline constexpr size_t kMaxDecimalDigits = 34;

// An integer as the double nearest to it and what is to be added to that: 512 at most, either way.
struct SplitInteger {
  double nearest = 0;
  int32_t rest = 0;
};
SplitInteger split_integer(int64_t integer);
int64_t join_integer(SplitInteger parts);

// NaN first; -0 is 0.
inline std::strong_ordering compare_doubles(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(b) <=> std::isnan(a);
  return a < b   ? std::strong_ordering::less
         : a > b ? std::strong_ordering::greater
                 : std::strong_ordering::equal;
}

struct ExactNumber {
  static ExactNumber of(double number);
  static ExactNumber of(int64_t integer);
  static ExactNumber of(SplitInteger parts);
  static ExactNumber of_decimal(std::string_view bytes);  // kDecimalBytes of them

  std::strong_ordering operator<=>(const ExactNumber& other) const;
  bool operator==(const ExactNumber& other) const { return (*this <=> other) == 0; }
  bool is_negative() const;

  double nearest = 0;  // never -0
  int8_t side = 0;     // below `nearest` (-1), the same, above (1)
  // Only beside a double: 0.ddd × 10^(exponent + 1), without zeros at either end.
  std::array<char, kMaxDecimalDigits> digits = {};  // '0' to '9'
  uint8_t digit_count = 0;
  int16_t exponent = 0;  // of the first digit
};

// A decimal as its standard says: all its digits, exponent where it is large; NaN, Infinity.
void append_decimal(std::string& out, std::string_view bytes);

}  // namespace orrery::value
