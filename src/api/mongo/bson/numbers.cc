// See numbers.h.
#include "api/mongo/bson/numbers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "api/mongo/bson/bid.h"
#include "api/mongo/bson/types.h"

namespace orrery::mongo {
namespace {

// Doubles from here on are no int64.
constexpr double kPastInt64 = 9223372036854775808.0;
constexpr int64_t kMaxPlaces = 100;
constexpr int64_t kMinPlaces = -20;

Value make_real(double number) {
  return Value::make_number(number);
}

bool fits_int32(int64_t number) {
  return number >= std::numeric_limits<int32_t>::min() &&
         number <= std::numeric_limits<int32_t>::max();
}

Value integer_result(int64_t result, NumberKind kind) {
  return kind == NumberKind::int32 && fits_int32(result) ? make_int32(result) : make_int64(result);
}

using DecimalOperator = BID_UINT128 (*)(BID_UINT128, BID_UINT128, unsigned, unsigned*);

Value decimal_result(DecimalOperator apply_to, const Value& a, const Value& b) {
  unsigned flags = 0;
  return make_decimal(from_bid(
      apply_to(to_bid(decimal_of(a)), to_bid(decimal_of(b)), BID_ROUNDING_TO_NEAREST, &flags)));
}

bool is_zero(const Value& number) {
  return is_decimal(number) ? is_zero(decimal_of(number)) : number.number() == 0;
}

// The decimal that a double is, to 34 digits.
Decimal exact_decimal(double number) {
  unsigned flags = 0;
  return from_bid(binary64_to_bid128(number, BID_ROUNDING_TO_NEAREST, &flags));
}

// The decimal with so many places behind the point; as many as there is room for.
Decimal quantize(Decimal decimal, int64_t places, Rounding rounding) {
  if (is_nan(decimal) || is_infinite(decimal)) return decimal;
  for (int64_t tried = places; tried >= kMinPlaces; --tried) {
    const auto quantum = parse_decimal(fmt::format("1E{}", -tried));
    unsigned flags = 0;
    const auto rounded = from_bid(bid128_quantize(
        to_bid(decimal), to_bid(*quantum),
        rounding == Rounding::to_zero ? BID_ROUNDING_TO_ZERO : BID_ROUNDING_TO_NEAREST, &flags));
    if (!is_nan(rounded)) return rounded;
  }
  return decimal;
}

Answer<Value> to_places(const Value& number, int64_t places, Rounding rounding,
                        std::string_view name) {
  if (places < kMinPlaces || places > kMaxPlaces) {
    return refuse(51083, fmt::format("cannot apply {} with precision value {} value must be in "
                                     "[-20, 100]",
                                     name, places));
  }
  switch (number.number_kind()) {
    case NumberKind::decimal:
      return make_decimal(quantize(decimal_of(number), places, rounding));
    case NumberKind::real:
      if (!std::isfinite(number.number())) return number;
      return make_real(double_of(quantize(exact_decimal(number.number()), places, rounding)));
    case NumberKind::int32:
    case NumberKind::int64:
      break;
  }
  if (places >= 0) return number;
  const auto rounded = integer_of(quantize(decimal_of(number), places, rounding));
  if (!rounded) {
    return refuse(51080, fmt::format("invalid conversion from Decimal128 result in {} resulting "
                                     "from arguments: [{}, {}]",
                                     name, number.integer(), places));
  }
  return integer_result(*rounded, number.number_kind());
}

}  // namespace

NumberKind wider(NumberKind a, NumberKind b) {
  const auto rank = [](NumberKind kind) {
    constexpr std::array kRanks = {2, 0, 1, 3};  // by NumberKind
    return kRanks[static_cast<size_t>(kind)];
  };
  return rank(a) >= rank(b) ? a : b;
}

bool is_nan(const Value& number) {
  if (!number.is_number()) return false;
  return is_decimal(number) ? is_nan(decimal_of(number)) : std::isnan(number.number());
}

bool is_infinite(const Value& number) {
  if (!number.is_number()) return false;
  return is_decimal(number) ? is_infinite(decimal_of(number)) : std::isinf(number.number());
}

std::optional<int64_t> truncated_integer(const Value& number) {
  if (!number.is_number()) return std::nullopt;
  if (is_integer_kind(number)) return number.integer();
  if (is_decimal(number)) return integer_of(decimal_of(number));
  const double whole = std::trunc(number.number());
  if (!(whole >= -kPastInt64 && whole < kPastInt64)) return std::nullopt;
  return static_cast<int64_t>(whole);
}

std::optional<int64_t> exact_integer(const Value& number) {
  const auto integer = truncated_integer(number);
  if (!integer) return std::nullopt;
  return make_int64(*integer) == number ? integer : std::nullopt;
}

Value add(const Value& a, const Value& b) {
  const NumberKind kind = wider(a.number_kind(), b.number_kind());
  if (kind == NumberKind::decimal) return decimal_result(bid128_add, a, b);
  if (kind == NumberKind::real) return make_real(a.number() + b.number());
  int64_t sum = 0;
  if (__builtin_add_overflow(a.integer(), b.integer(), &sum)) {
    return make_real(a.number() + b.number());
  }
  return integer_result(sum, kind);
}

Value subtract(const Value& a, const Value& b) {
  const NumberKind kind = wider(a.number_kind(), b.number_kind());
  if (kind == NumberKind::decimal) return decimal_result(bid128_sub, a, b);
  if (kind == NumberKind::real) return make_real(a.number() - b.number());
  int64_t difference = 0;
  if (__builtin_sub_overflow(a.integer(), b.integer(), &difference)) {
    return make_real(a.number() - b.number());
  }
  return integer_result(difference, kind);
}

Value multiply(const Value& a, const Value& b) {
  const NumberKind kind = wider(a.number_kind(), b.number_kind());
  if (kind == NumberKind::decimal) return decimal_result(bid128_mul, a, b);
  if (kind == NumberKind::real) return make_real(a.number() * b.number());
  int64_t product = 0;
  if (__builtin_mul_overflow(a.integer(), b.integer(), &product)) {
    return make_real(a.number() * b.number());
  }
  return integer_result(product, kind);
}

Answer<Value> add_exact(const Value& a, const Value& b) {
  Value sum = add(a, b);
  if (is_integer_kind(a) && is_integer_kind(b) && !is_integer_kind(sum)) {
    return refuse(kBadValue, fmt::format("integer overflow: {} + {}", a.integer(), b.integer()));
  }
  return sum;
}

Answer<Value> multiply_exact(const Value& a, const Value& b) {
  Value product = multiply(a, b);
  if (is_integer_kind(a) && is_integer_kind(b) && !is_integer_kind(product)) {
    return refuse(kBadValue, fmt::format("integer overflow: {} * {}", a.integer(), b.integer()));
  }
  return product;
}

Answer<Value> divide(const Value& a, const Value& b) {
  if (is_zero(b)) return refuse(kBadValue, "can't $divide by zero");
  if (is_decimal(a) || is_decimal(b)) return decimal_result(bid128_div, a, b);
  return make_real(a.number() / b.number());
}

Answer<Value> mod(const Value& a, const Value& b) {
  if (is_zero(b)) return refuse(16610, "can't $mod by zero");
  const NumberKind kind = wider(a.number_kind(), b.number_kind());
  if (kind == NumberKind::decimal) {
    unsigned flags = 0;
    return make_decimal(
        from_bid(bid128_fmod(to_bid(decimal_of(a)), to_bid(decimal_of(b)), &flags)));
  }
  // A divisor that is a whole double counts as an integer, unless the dividend is a double too.
  if (kind == NumberKind::real) {
    const auto whole = is_integer_kind(a) ? exact_integer(b) : std::nullopt;
    if (!whole || !fits_int32(*whole)) return make_real(std::fmod(a.number(), b.number()));
    return mod(a, make_int32(*whole));
  }
  // -1 apart: the least int64 divided by it overflows.
  return integer_result(b.integer() == -1 ? 0 : a.integer() % b.integer(), kind);
}

Answer<Value> pow(const Value& base, const Value& exponent) {
  if (is_zero(base) && exponent.number() < 0) {
    return refuse(28764, "$pow cannot take a base of 0 and a negative exponent");
  }
  const NumberKind kind = wider(base.number_kind(), exponent.number_kind());
  if (kind == NumberKind::decimal) {
    // Adding a zero of the least exponent gives the power all of its 34 digits.
    return decimal_result(bid128_add, decimal_result(bid128_pow, base, exponent),
                          make_decimal(*parse_decimal("0E-6176")));
  }
  if (kind == NumberKind::real) return make_real(std::pow(base.number(), exponent.number()));
  const int64_t number = base.integer();
  int64_t left = exponent.integer();
  if (number == 1 || number == 0 || number == -1) {
    const int64_t result = number == 0                    ? (left == 0 ? 1 : 0)
                           : number == 1 || left % 2 == 0 ? 1
                                                          : -1;
    return integer_result(result, kind);
  }
  if (left < 0) return make_real(std::pow(base.number(), exponent.number()));
  int64_t result = 1;
  // Of numbers other than those above, the 63rd power overflows at the latest.
  for (; left > 0; --left) {
    if (__builtin_mul_overflow(result, number, &result)) {
      return make_real(std::pow(base.number(), exponent.number()));
    }
  }
  return integer_result(result, kind);
}

Answer<Value> absolute(const Value& number) {
  switch (number.number_kind()) {
    case NumberKind::real:
      return make_real(std::abs(number.number()));
    case NumberKind::decimal:
      return make_decimal(from_bid(bid128_abs(to_bid(decimal_of(number)))));
    case NumberKind::int32:
    case NumberKind::int64:
      break;
  }
  if (number.integer() == std::numeric_limits<int64_t>::min()) {
    return refuse(28680, "can't take $abs of long long min");
  }
  return integer_result(std::abs(number.integer()), number.number_kind());
}

Value floor(const Value& number) {
  if (is_integer_kind(number)) return number;
  if (is_decimal(number)) {
    return make_decimal(round_to_integer(decimal_of(number), Rounding::down));
  }
  return make_real(std::floor(number.number()));
}

Value ceil(const Value& number) {
  if (is_integer_kind(number)) return number;
  if (is_decimal(number)) return make_decimal(round_to_integer(decimal_of(number), Rounding::up));
  return make_real(std::ceil(number.number()));
}

Answer<Value> round(const Value& number, int64_t places) {
  return to_places(number, places, Rounding::to_even, "$round");
}

Answer<Value> trunc(const Value& number, int64_t places) {
  return to_places(number, places, Rounding::to_zero, "$trunc");
}

std::string double_text(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number < 0 ? "-Infinity" : "Infinity";
  return fmt::format("{}", number);
}

std::string number_text(const Value& number) {
  if (is_decimal(number)) return decimal_text(decimal_of(number));
  if (is_integer_kind(number)) return std::to_string(number.integer());
  return double_text(number.number());
}

}  // namespace orrery::mongo
