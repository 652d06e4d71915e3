// Mathematical functions, on IEEE doubles: what has no value is NaN, a number.
#include <cmath>
#include <numbers>

#include "query/functions/arguments.h"
#include "query/functions/groups.h"

namespace orrery::query {

namespace {

using One = double (*)(double);
using Two = double (*)(double, double);

template <One function>
Value unary(Arguments arguments, Context& /*context*/) {
  return arguments[0].is_number() ? number(function(arguments[0].number())) : Value();
}

template <Two function>
Value binary(Arguments arguments, Context& /*context*/) {
  if (!arguments[0].is_number() || !arguments[1].is_number()) return {};
  return number(function(arguments[0].number(), arguments[1].number()));
}

double sign(double x) {
  return x > 0 ? 1 : x < 0 ? -1 : x;
}
double cotangent(double x) {
  return 1 / std::tan(x);
}
double degrees(double x) {
  return x * 180 / std::numbers::pi;
}
double radians(double x) {
  return x * std::numbers::pi / 180;
}
double square(double x) {
  return x * x;
}

// The natural logarithm, or that of a base; the common bases are exact.
Value log(Arguments arguments, Context& /*context*/) {
  for (const Value& argument : arguments) {
    if (!argument.is_number()) return {};
  }
  const double x = arguments[0].number();
  if (arguments.size() == 1) return number(std::log(x));
  const double base = arguments[1].number();
  if (base == 10) return number(std::log10(x));
  if (base == 2) return number(std::log2(x));
  return number(std::log(x) / std::log(base));
}

// Rounds towards minus infinity to a multiple of the bin (so a negative bin rounds up).
Value number_bin(Arguments arguments, Context& /*context*/) {
  for (const Value& argument : arguments) {
    if (!argument.is_number()) return {};
  }
  const double bin = arguments.size() > 1 ? arguments[1].number() : 1;
  if (bin == 0 || !std::isfinite(bin)) return {};
  return number(std::floor(arguments[0].number() / bin) * bin);
}

Value pi(Arguments /*arguments*/, Context& /*context*/) {
  return number(std::numbers::pi);
}

// [0, 1), from the top 53 bits.
Value rand(Arguments /*arguments*/, Context& context) {
  return number(static_cast<double>(context.random() >> 11) * 0x1.0p-53);
}

constexpr Function kMathFunctions[] = {
    {"ABS", 1, 1, unary<std::fabs>},
    {"ACOS", 1, 1, unary<std::acos>},
    {"ASIN", 1, 1, unary<std::asin>},
    {"ATAN", 1, 1, unary<std::atan>},
    {"ATN2", 2, 2, binary<std::atan2>},
    {"CEILING", 1, 1, unary<std::ceil>},
    {"COS", 1, 1, unary<std::cos>},
    {"COT", 1, 1, unary<cotangent>},
    {"DEGREES", 1, 1, unary<degrees>},
    {"EXP", 1, 1, unary<std::exp>},
    {"FLOOR", 1, 1, unary<std::floor>},
    {"LOG", 1, 2, log},
    {"LOG10", 1, 1, unary<std::log10>},
    {"NUMBERBIN", 1, 2, number_bin},
    {"PI", 0, 0, pi},
    {"POWER", 2, 2, binary<std::pow>},
    {"RADIANS", 1, 1, unary<radians>},
    {"RAND", 0, 0, rand, Depends::row},
    {"ROUND", 1, 1, unary<std::round>},
    {"SIGN", 1, 1, unary<sign>},
    {"SIN", 1, 1, unary<std::sin>},
    {"SQRT", 1, 1, unary<std::sqrt>},
    {"SQUARE", 1, 1, unary<square>},
    {"TAN", 1, 1, unary<std::tan>},
    {"TRUNC", 1, 1, unary<std::trunc>},
};

}  // namespace

std::span<const Function> math_functions() {
  return kMathFunctions;
}

}  // namespace orrery::query
