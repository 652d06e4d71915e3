// See number.h. Conversions between binary and decimal are the standard library's, which are exact:
// from_chars rounds to the nearest double, and to_chars writes every digit that a double has.
#include "value/number.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/bytes.h"

namespace orrery::value {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr double kTwoTo63 = 9223372036854775808.0;
constexpr int kDecimalExponentBias = 6176;
// Digits of a double that has the most of them, and room for its sign and exponent.
constexpr int kMaxDoubleDigits = 767;
constexpr size_t kMaxWritten = kMaxDoubleDigits + 16;
// Beyond these exponents of the first digit a decimal is larger than all doubles, or so small that
// none but 0 is near.
constexpr int kMaxDoubleExponent = 308;
constexpr int kMinDoubleExponent = -325;

enum class Form : uint8_t { finite, infinite, nan };

struct Decimal {
  Form form = Form::finite;
  bool negative = false;
  Wide coefficient = 0;
  int exponent = 0;
};

Wide largest_coefficient() {
  Wide power = 1;
  for (size_t i = 0; i < kMaxDecimalDigits; ++i) power *= 10;
  return power - 1;
}

Decimal decode(std::string_view bytes) {
  assert(bytes.size() == kDecimalBytes);
  const uint64_t low = load_u64_le(bytes.data());
  const uint64_t high = load_u64_le(bytes.data() + 8);
  Decimal out;
  out.negative = high >> 63 != 0;
  if ((high >> 61 & 3) == 3) {
    const uint64_t special = high >> 58 & 0x1F;
    if (special == 0x1F) {
      out.form = Form::nan;
    } else if (special == 0x1E) {
      out.form = Form::infinite;
    } else {
      // A coefficient above the largest there is counts as 0: so says the standard.
      out.exponent = static_cast<int>(high >> 47 & 0x3FFF) - kDecimalExponentBias;
    }
    return out;
  }
  out.exponent = static_cast<int>(high >> 49 & 0x3FFF) - kDecimalExponentBias;
  out.coefficient = static_cast<Wide>(high & 0x1'FFFF'FFFF'FFFF) << 64 | low;
  static const Wide kLargest = largest_coefficient();
  if (out.coefficient > kLargest) out.coefficient = 0;
  return out;
}

// The digits of a coefficient, without zeros before them.
std::string digits_of(Wide coefficient) {
  std::string digits;
  for (; coefficient != 0; coefficient /= 10) {
    digits.push_back(static_cast<char>('0' + static_cast<int>(coefficient % 10)));
  }
  std::ranges::reverse(digits);
  return digits;
}

void strip_zeros(std::string& digits) {
  digits.resize(digits.find_last_not_of('0') + 1);
}

// Of 0.aaa × 10^(a_exponent + 1) to 0.bbb × 10^(b_exponent + 1); no zeros at either end.
std::strong_ordering compare_magnitudes(std::string_view a, int a_exponent, std::string_view b,
                                        int b_exponent) {
  if (a_exponent != b_exponent) return a_exponent <=> b_exponent;
  return a <=> b;
}

std::strong_ordering reversed(std::strong_ordering order, bool reverse) {
  return reverse ? 0 <=> order : order;
}

// Of a number to a finite double other than 0, by their magnitudes.
std::strong_ordering compare_to_double(std::string_view digits, int exponent, double number) {
  char buffer[kMaxWritten];
  const auto written = std::to_chars(buffer, buffer + sizeof buffer, std::abs(number),
                                     std::chars_format::scientific, kMaxDoubleDigits - 1);
  const std::string_view text(buffer, static_cast<size_t>(written.ptr - buffer));
  const size_t exponent_at = text.find('e');
  std::string theirs(1, text.front());
  theirs.append(text.substr(2, exponent_at - 2));
  strip_zeros(theirs);
  int their_exponent = 0;
  std::from_chars(text.data() + exponent_at + 2, written.ptr, their_exponent);
  if (text[exponent_at + 1] == '-') their_exponent = -their_exponent;
  return compare_magnitudes(digits, exponent, theirs, their_exponent);
}

double nearest_double(std::string_view digits, int exponent) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  if (exponent > kMaxDoubleExponent) return kLargest;
  if (exponent < kMinDoubleExponent) return 0;
  std::string text(1, digits.front());
  text.append(1, '.').append(digits.substr(1)).append(1, 'e').append(std::to_string(exponent));
  double number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  if (result.ec == std::errc()) return number;
  return exponent > 0 ? kLargest : 0;
}

void set_digits(ExactNumber& number, std::string_view digits, int exponent) {
  std::ranges::copy(digits, number.digits.begin());
  number.digit_count = static_cast<uint8_t>(digits.size());
  number.exponent = static_cast<int16_t>(exponent);
}

}  // namespace

SplitInteger split_integer(int64_t integer) {
  const auto nearest = static_cast<double>(integer);
  // The double may be 2^63, which is no int64; what is left is small, so it can be computed modulo
  // 2^64.
  const uint64_t whole = nearest == kTwoTo63 ? uint64_t{1} << 63
                                             : static_cast<uint64_t>(static_cast<int64_t>(nearest));
  return {nearest,
          static_cast<int32_t>(static_cast<int64_t>(static_cast<uint64_t>(integer) - whole))};
}

int64_t join_integer(SplitInteger parts) {
  const uint64_t whole = parts.nearest == kTwoTo63
                             ? uint64_t{1} << 63
                             : static_cast<uint64_t>(static_cast<int64_t>(parts.nearest));
  return static_cast<int64_t>(whole + static_cast<uint64_t>(static_cast<int64_t>(parts.rest)));
}

ExactNumber ExactNumber::of(double number) {
  ExactNumber out;
  out.nearest = number == 0 ? 0 : number;
  return out;
}

ExactNumber ExactNumber::of(int64_t integer) {
  return of(split_integer(integer));
}

ExactNumber ExactNumber::of(SplitInteger parts) {
  ExactNumber out;
  out.nearest = parts.nearest;
  out.side = static_cast<int8_t>(parts.rest < 0 ? -1 : parts.rest > 0);
  if (parts.rest == 0) return out;
  const int64_t integer = join_integer(parts);
  const auto magnitude =
      integer < 0 ? 0 - static_cast<uint64_t>(integer) : static_cast<uint64_t>(integer);
  std::string digits = digits_of(magnitude);
  const int exponent = static_cast<int>(digits.size()) - 1;
  strip_zeros(digits);
  set_digits(out, digits, exponent);
  return out;
}

ExactNumber ExactNumber::of_decimal(std::string_view bytes) {
  const Decimal decimal = decode(bytes);
  if (decimal.form == Form::nan) return of(std::numeric_limits<double>::quiet_NaN());
  if (decimal.form == Form::infinite) {
    const double infinity = std::numeric_limits<double>::infinity();
    return of(decimal.negative ? -infinity : infinity);
  }
  if (decimal.coefficient == 0) return of(0.0);
  std::string digits = digits_of(decimal.coefficient);
  const int exponent = decimal.exponent + static_cast<int>(digits.size()) - 1;
  strip_zeros(digits);
  ExactNumber out;
  out.nearest = nearest_double(digits, exponent);
  const auto order = out.nearest == 0 ? std::strong_ordering::greater
                                      : compare_to_double(digits, exponent, out.nearest);
  if (decimal.negative && out.nearest != 0) out.nearest = -out.nearest;
  const auto side = reversed(order, decimal.negative);
  out.side = static_cast<int8_t>(side < 0 ? -1 : side > 0);
  if (out.side != 0) set_digits(out, digits, exponent);
  return out;
}

bool ExactNumber::is_negative() const {
  return nearest < 0 || (nearest == 0 && side < 0);
}

std::strong_ordering ExactNumber::operator<=>(const ExactNumber& other) const {
  if (const auto order = compare_doubles(nearest, other.nearest); order != 0) return order;
  if (const auto order = side <=> other.side; order != 0) return order;
  if (side == 0) return std::strong_ordering::equal;
  const auto order = compare_magnitudes({digits.data(), digit_count}, exponent,
                                        {other.digits.data(), other.digit_count}, other.exponent);
  return reversed(order, is_negative());
}

void append_decimal(std::string& out, std::string_view bytes) {
  const Decimal decimal = decode(bytes);
  if (decimal.form == Form::nan) {
    out += "NaN";
    return;
  }
  if (decimal.negative) out += '-';
  if (decimal.form == Form::infinite) {
    out += "Infinity";
    return;
  }
  std::string digits = decimal.coefficient == 0 ? "0" : digits_of(decimal.coefficient);
  const int count = static_cast<int>(digits.size());
  const int first = decimal.exponent + count - 1;  // exponent of the first digit
  if (decimal.exponent <= 0 && first >= -6) {
    const int point = count + decimal.exponent;  // digits before it
    if (decimal.exponent == 0) {
      out += digits;
    } else if (point > 0) {
      out.append(digits, 0, static_cast<size_t>(point)).append(1, '.');
      out.append(digits, static_cast<size_t>(point));
    } else {
      out.append("0.").append(static_cast<size_t>(-point), '0').append(digits);
    }
    return;
  }
  out += digits.front();
  if (count > 1) out.append(1, '.').append(digits, 1);
  out += 'E';
  if (first >= 0) out += '+';
  out += std::to_string(first);
}

}  // namespace orrery::value
