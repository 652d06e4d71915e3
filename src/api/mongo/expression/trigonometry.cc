// Trigonometric operators.
#include <fmt/format.h>

#include "api/mongo/expression/operators.h"

namespace orrery::mongo {
namespace {

constexpr std::string_view kNumbersOnly = "only supports numeric types";

// What the argument may be.
enum class Domain : uint8_t { all, finite, unit, from_one };

template <const Function& kFunction, Domain kDomain>
Answer<Value> angle_of_one(const Arguments& arguments) {
  const Value& number = arguments[0];
  if (!number.is_number()) return wrong_type(28765, arguments.name, kNumbersOnly, number);
  if (!is_nan(number)) {
    const auto below = [&](int limit) { return compare(number, make_int32(limit), nullptr) < 0; };
    const auto above = [&](int limit) { return compare(number, make_int32(limit), nullptr) > 0; };
    bool is_outside = false;
    if constexpr (kDomain == Domain::finite) is_outside = is_infinite(number);
    if constexpr (kDomain == Domain::unit) is_outside = below(-1) || above(1);
    if constexpr (kDomain == Domain::from_one) is_outside = below(1);
    if (is_outside) {
      return refuse(50989, fmt::format("cannot apply {} to {}, value is out of its domain",
                                       arguments.name, number_text(number)));
    }
  }
  return apply(kFunction, number);
}

Answer<Value> do_atan2(const Arguments& arguments) {
  for (const Value& one : arguments.values) {
    if (!one.is_number()) return wrong_type(51044, "$atan2", kNumbersOnly, one);
  }
  return atan2(arguments[0], arguments[1]);
}

template <Value (*kFunction)(const Value&)>
Answer<Value> turn(const Arguments& arguments) {
  if (!arguments[0].is_number())
    return wrong_type(28765, arguments.name, kNumbersOnly, arguments[0]);
  return kFunction(arguments[0]);
}

constexpr std::array kTrigonometryPositional = {
    PositionalOperator{"$sin", 1, 1, angle_of_one<kSin, Domain::finite>, true},
    PositionalOperator{"$cos", 1, 1, angle_of_one<kCos, Domain::finite>, true},
    PositionalOperator{"$tan", 1, 1, angle_of_one<kTan, Domain::finite>, true},
    PositionalOperator{"$asin", 1, 1, angle_of_one<kAsin, Domain::unit>, true},
    PositionalOperator{"$acos", 1, 1, angle_of_one<kAcos, Domain::unit>, true},
    PositionalOperator{"$atan", 1, 1, angle_of_one<kAtan, Domain::all>, true},
    PositionalOperator{"$sinh", 1, 1, angle_of_one<kSinh, Domain::all>, true},
    PositionalOperator{"$cosh", 1, 1, angle_of_one<kCosh, Domain::all>, true},
    PositionalOperator{"$tanh", 1, 1, angle_of_one<kTanh, Domain::all>, true},
    PositionalOperator{"$asinh", 1, 1, angle_of_one<kAsinh, Domain::all>, true},
    PositionalOperator{"$acosh", 1, 1, angle_of_one<kAcosh, Domain::from_one>, true},
    PositionalOperator{"$atanh", 1, 1, angle_of_one<kAtanh, Domain::unit>, true},
    PositionalOperator{"$atan2", 2, 2, do_atan2, true},
    PositionalOperator{"$degreesToRadians", 1, 1, turn<degrees_to_radians>, true},
    PositionalOperator{"$radiansToDegrees", 1, 1, turn<radians_to_degrees>, true},
};

}  // namespace

OperatorTables trigonometry_operators() {
  return {.positional = kTrigonometryPositional};
}

}  // namespace orrery::mongo
