// Functions and sums of numbers.h.
#include <cmath>
#include <limits>
#include <numbers>

#include "api/mongo/bson/bid.h"
#include "api/mongo/bson/numbers.h"
#include "api/mongo/bson/types.h"

namespace orrery::mongo {
namespace {

// 34 digits, as many as a decimal has.
constexpr std::string_view kPi = "3.141592653589793238462643383279503";
constexpr std::string_view kHalfTurn = "180";

template <auto kFunction>
Decimal with_rounding(Decimal decimal) {
  unsigned flags = 0;
  return from_bid(kFunction(to_bid(decimal), BID_ROUNDING_TO_NEAREST, &flags));
}

template <auto kFunction>
Decimal combine(Decimal a, Decimal b) {
  unsigned flags = 0;
  return from_bid(kFunction(to_bid(a), to_bid(b), BID_ROUNDING_TO_NEAREST, &flags));
}

Decimal decimal_constant(std::string_view text) {
  return parse_decimal(text).value_or(Decimal{});
}

}  // namespace

#define ORRERY_FUNCTION(name, function)                             \
  const Function name = {[](double x) { return std::function(x); }, \
                         with_rounding<bid128_##function>}
ORRERY_FUNCTION(kExp, exp);
ORRERY_FUNCTION(kLn, log);
ORRERY_FUNCTION(kLog10, log10);
ORRERY_FUNCTION(kSqrt, sqrt);
ORRERY_FUNCTION(kSin, sin);
ORRERY_FUNCTION(kCos, cos);
ORRERY_FUNCTION(kTan, tan);
ORRERY_FUNCTION(kAsin, asin);
ORRERY_FUNCTION(kAcos, acos);
ORRERY_FUNCTION(kAtan, atan);
ORRERY_FUNCTION(kSinh, sinh);
ORRERY_FUNCTION(kCosh, cosh);
ORRERY_FUNCTION(kTanh, tanh);
ORRERY_FUNCTION(kAsinh, asinh);
ORRERY_FUNCTION(kAcosh, acosh);
ORRERY_FUNCTION(kAtanh, atanh);
#undef ORRERY_FUNCTION

Value apply(const Function& function, const Value& number) {
  if (is_decimal(number)) return make_decimal(function.decimal(decimal_of(number)));
  return Value::make_number(function.real(number.number()));
}

Value atan2(const Value& y, const Value& x) {
  if (is_decimal(y) || is_decimal(x)) {
    return make_decimal(combine<bid128_atan2>(decimal_of(y), decimal_of(x)));
  }
  return Value::make_number(std::atan2(y.number(), x.number()));
}

Value log(const Value& number, const Value& base) {
  if (is_decimal(number) || is_decimal(base)) {
    return make_decimal(
        combine<bid128_div>(kLog10.decimal(decimal_of(number)), kLog10.decimal(decimal_of(base))));
  }
  return Value::make_number(std::log(number.number()) / std::log(base.number()));
}

Value degrees_to_radians(const Value& number) {
  if (is_decimal(number)) {
    const Decimal factor = combine<bid128_div>(decimal_constant(kPi), decimal_constant(kHalfTurn));
    return make_decimal(combine<bid128_mul>(decimal_of(number), factor));
  }
  return Value::make_number(number.number() * (std::numbers::pi / 180.0));
}

Value radians_to_degrees(const Value& number) {
  if (is_decimal(number)) {
    const Decimal factor = combine<bid128_div>(decimal_constant(kHalfTurn), decimal_constant(kPi));
    return make_decimal(combine<bid128_mul>(decimal_of(number), factor));
  }
  return Value::make_number(number.number() * (180.0 / std::numbers::pi));
}

void Sum::add_decimal(Decimal number) {
  decimal_ = has_decimal_ ? combine<bid128_add>(decimal_, number) : number;
  has_decimal_ = true;
}

// Neumaier's sum: what each addition loses is kept apart.
void Sum::add_real(double number) {
  const double sum = real_ + number;
  if (std::isfinite(sum)) {
    lost_ += std::abs(real_) >= std::abs(number) ? (real_ - sum) + number : (number - sum) + real_;
  }
  real_ = sum;
}

void Sum::add(const Value& number) {
  const NumberKind kind = number.number_kind();
  kind_ = wider(kind_, kind);
  switch (kind) {
    case NumberKind::int32:
    case NumberKind::int64:
      integers_ += number.integer();
      return;
    case NumberKind::decimal:
      return add_decimal(decimal_of(number));
    case NumberKind::real:
      return add_real(number.number());
  }
}

void Sum::merge(const Sum& other) {
  kind_ = wider(kind_, other.kind_);
  integers_ += other.integers_;
  if (other.has_decimal_) add_decimal(other.decimal_);
  add_real(other.real_);
  lost_ += other.lost_;
}

Value Sum::total() const {
  const double real = std::isfinite(real_) ? real_ + lost_ : real_;
  if (has_decimal_) {
    Decimal sum = decimal_;
    constexpr Int128 kMost = std::numeric_limits<int64_t>::max();
    if (integers_ >= -kMost && integers_ <= kMost) {
      sum = combine<bid128_add>(sum, decimal_of(static_cast<int64_t>(integers_)));
    } else {
      sum =
          combine<bid128_add>(sum, decimal_of(Value::make_number(static_cast<double>(integers_))));
    }
    if (real != 0) sum = combine<bid128_add>(sum, decimal_of(Value::make_number(real)));
    return make_decimal(sum);
  }
  if (kind_ == NumberKind::real) {
    return Value::make_number(real + static_cast<double>(integers_));
  }
  if (integers_ > std::numeric_limits<int64_t>::max() ||
      integers_ < std::numeric_limits<int64_t>::min()) {
    return Value::make_number(static_cast<double>(integers_));
  }
  const auto sum = static_cast<int64_t>(integers_);
  return kind_ == NumberKind::int32 ? make_integer(sum) : make_int64(sum);
}

Value Sum::mean(int64_t count) const {
  const Value sum = total();
  if (is_decimal(sum)) {
    return make_decimal(combine<bid128_div>(decimal_of(sum), decimal_of(count)));
  }
  return Value::make_number(sum.number() / static_cast<double>(count));
}

}  // namespace orrery::mongo
