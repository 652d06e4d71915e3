// Arithmetic on numbers of mixed kinds, as MongoDB does it. The result is of the widest kind among
// the operands: int32 < int64 < double < decimal. An int32 that overflows becomes an int64, an
// int64 that overflows a double. Decimals are exact to 34 digits, by Intel's library.
//
// Arguments are numbers (Value::is_number) unless said otherwise. Pure; any thread may call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/mongo/bson/error.h"
#include "value/value.h"

namespace orrery::mongo {

using value::NumberKind;
using value::Value;

// A decimal128 of Intel's library, by its bits.
struct Decimal {
  uint64_t low = 0;
  uint64_t high = 0;
};

enum class Rounding : uint8_t { to_even, down, up, to_zero };  // Intel's numbers

Decimal decimal_of(const Value& number);  // of any kind; a double by its 15 digits, as MongoDB does
Decimal decimal_of(int64_t integer);
Value make_decimal(Decimal decimal);
// Whole text: "1.5", "-1E+3", "Infinity", "NaN". Nothing when it is no number.
std::optional<Decimal> parse_decimal(std::string_view text);
std::string decimal_text(Decimal decimal);
double double_of(Decimal decimal);
bool is_nan(Decimal decimal);
bool is_infinite(Decimal decimal);
bool is_zero(Decimal decimal);
bool is_negative(Decimal decimal);
Decimal round_to_integer(Decimal decimal, Rounding rounding);
// The decimal truncated; nothing when it is out of range or no number.
std::optional<int64_t> integer_of(Decimal decimal);

bool is_nan(const Value& number);
bool is_infinite(const Value& number);
inline bool is_decimal(const Value& number) {
  return number.is_number() && number.number_kind() == NumberKind::decimal;
}
inline bool is_integer_kind(const Value& number) {
  return number.is_number() &&
         (number.number_kind() == NumberKind::int32 || number.number_kind() == NumberKind::int64);
}
// The integer that a number of any kind is worth exactly; nothing when it has a fraction or is out
// of range. Of what is no number: nothing.
std::optional<int64_t> exact_integer(const Value& number);
// The same cut towards zero: 1.9 is 1.
std::optional<int64_t> truncated_integer(const Value& number);

// The wider of two kinds.
NumberKind wider(NumberKind a, NumberKind b);

Value add(const Value& a, const Value& b);
Value subtract(const Value& a, const Value& b);
Value multiply(const Value& a, const Value& b);
Answer<Value> divide(const Value& a, const Value& b);  // 2 when the divisor is 0
Answer<Value> mod(const Value& a, const Value& b);     // 16610 when the divisor is 0
Answer<Value> pow(const Value& base, const Value& exponent);
Answer<Value> absolute(const Value& number);
Value floor(const Value& number);
Value ceil(const Value& number);
// To so many digits behind the point (-20 to 100).
Answer<Value> round(const Value& number, int64_t places);
Answer<Value> trunc(const Value& number, int64_t places);

// int64 that overflows is an error here (code 2): for $inc, $mul and the like.
Answer<Value> add_exact(const Value& a, const Value& b);
Answer<Value> multiply_exact(const Value& a, const Value& b);

// Functions over doubles, over decimals where one of the arguments is one.
using RealFunction = double (*)(double);
using DecimalFunction = Decimal (*)(Decimal);
struct Function {
  RealFunction real;
  DecimalFunction decimal;
};
extern const Function kExp, kLn, kLog10, kSqrt, kSin, kCos, kTan, kAsin, kAcos, kAtan, kSinh, kCosh,
    kTanh, kAsinh, kAcosh, kAtanh;
Value apply(const Function& function, const Value& number);
Value atan2(const Value& y, const Value& x);
Value log(const Value& number, const Value& base);
Value degrees_to_radians(const Value& number);
Value radians_to_degrees(const Value& number);

// The sum of many numbers, without losing digits of doubles on the way.
class Sum {
 public:
  void add(const Value& number);
  // As if the numbers of the other were added. Doubles and decimals may be rounded in other places.
  void merge(const Sum& other);
  Value total() const;
  // Divided by so many: a double, or a decimal.
  Value mean(int64_t count) const;

 private:
  void add_real(double number);
  void add_decimal(Decimal number);

  __extension__ using Int128 = __int128;
  Int128 integers_ = 0;
  double real_ = 0;
  double lost_ = 0;  // by rounding real_
  Decimal decimal_;
  NumberKind kind_ = NumberKind::int32;
  bool has_decimal_ = false;
};

// A double as MongoDB prints it in strings: "1", "1.5", "1e+30", "NaN", "Infinity".
std::string double_text(double number);
std::string number_text(const Value& number);

}  // namespace orrery::mongo
