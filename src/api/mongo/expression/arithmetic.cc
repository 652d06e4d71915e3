// Arithmetic and bitwise operators.
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include <fmt/format.h>

#include "api/mongo/expression/operators.h"

namespace orrery::mongo {
namespace {

constexpr std::string_view kOnlyNumbers = "only supports numeric types";

std::optional<int64_t> rounded_ms(const Value& number) {
  if (is_integer_kind(number)) return number.integer();
  if (is_decimal(number))
    return integer_of(round_to_integer(decimal_of(number), Rounding::to_even));
  return truncated_integer(Value::make_number(std::round(number.number())));
}

Answer<Value> date_plus(std::string_view name, int64_t ms, const Value& number, bool is_minus) {
  const auto change = rounded_ms(number);
  int64_t result = 0;
  if (!change || (is_minus ? __builtin_sub_overflow(ms, *change, &result)
                           : __builtin_add_overflow(ms, *change, &result))) {
    return refuse(kOverflow, fmt::format("date overflow in {}", name));
  }
  return make_date(result);
}

Answer<Value> do_add(const Arguments& arguments) {
  std::optional<int64_t> date;
  Value sum = make_int32(0);
  for (const Value& one : arguments.values) {
    if (is_nullish(one)) return Value::make_null();
    if (one.type() == Type::date) {
      if (date) return refuse(16612, "only one date allowed in an $add expression");
      date = one.date().ms;
    } else if (one.is_number()) {
      sum = add(sum, one);
    } else {
      return wrong_type(16554, "$add", "only supports numeric or date types", one);
    }
  }
  return date ? date_plus("$add", *date, sum, false) : sum;
}

Answer<Value> do_subtract(const Arguments& arguments) {
  const Value& left = arguments[0];
  const Value& right = arguments[1];
  if (left.is_number() && right.is_number()) return subtract(left, right);
  if (left.type() == Type::date && right.type() == Type::date) {
    int64_t difference = 0;
    if (__builtin_sub_overflow(left.date().ms, right.date().ms, &difference)) {
      return refuse(kOverflow, "date overflow in $subtract");
    }
    return make_int64(difference);
  }
  if (left.type() == Type::date && right.is_number()) {
    return date_plus("$subtract", left.date().ms, right, true);
  }
  return refuse(16556,
                fmt::format("can't $subtract {} from {}", type_name(right), type_name(left)));
}

Answer<Value> do_multiply(const Arguments& arguments) {
  Value product = make_int32(1);
  for (const Value& one : arguments.values) {
    if (is_nullish(one)) return Value::make_null();
    if (!one.is_number()) return wrong_type(16555, "$multiply", kOnlyNumbers, one);
    product = multiply(product, one);
  }
  return product;
}

// Two numbers, or null.
template <Answer<Value> (*kFunction)(const Value&, const Value&), int32_t kLeft, int32_t kRight>
Answer<Value> of_two(const Arguments& arguments) {
  if (!arguments[0].is_number())
    return wrong_type(kLeft, arguments.name, kOnlyNumbers, arguments[0]);
  if (!arguments[1].is_number()) {
    return wrong_type(kRight, arguments.name, kOnlyNumbers, arguments[1]);
  }
  return kFunction(arguments[0], arguments[1]);
}

template <Answer<Value> (*kFunction)(const Value&)>
Answer<Value> of_one(const Arguments& arguments) {
  if (!arguments[0].is_number())
    return wrong_type(28765, arguments.name, kOnlyNumbers, arguments[0]);
  return kFunction(arguments[0]);
}

Answer<Value> do_floor(const Value& number) {
  return floor(number);
}
Answer<Value> do_ceil(const Value& number) {
  return ceil(number);
}
Answer<Value> do_exp(const Value& number) {
  return apply(kExp, number);
}

bool is_positive(const Value& number) {
  return is_nan(number) || compare(number, make_int32(0), nullptr) > 0;
}

Answer<Value> do_sqrt(const Value& number) {
  if (!is_nan(number) && compare(number, make_int32(0), nullptr) < 0) {
    return refuse(28714, "$sqrt's argument must be greater than or equal to 0");
  }
  return apply(kSqrt, number);
}

// Logarithms of NaN are doubles, whatever the NaN was.
Value not_a_number() {
  return Value::make_number(std::numeric_limits<double>::quiet_NaN());
}

Answer<Value> do_ln(const Value& number) {
  if (is_nan(number)) return not_a_number();
  if (!is_positive(number)) {
    return refuse(28766, fmt::format("$ln's argument must be a positive number, but is {}",
                                     number_text(number)));
  }
  return apply(kLn, number);
}

Answer<Value> do_log10(const Value& number) {
  if (is_nan(number)) return not_a_number();
  if (!is_positive(number)) {
    return refuse(28761, fmt::format("$log10's argument must be a positive number, but is {}",
                                     number_text(number)));
  }
  return apply(kLog10, number);
}

Answer<Value> do_log(const Value& number, const Value& base) {
  if (!is_positive(number)) {
    return refuse(28758, fmt::format("$log's argument must be a positive number, but is {}",
                                     number_text(number)));
  }
  if (!is_nan(base) && compare(base, make_int32(1), nullptr) == 0) {
    return refuse(28759, "$log's base must be a positive number not equal to 1, but is 1");
  }
  if (!is_positive(base)) {
    return refuse(28759, fmt::format("$log's base must be a positive number not equal to 1, but is "
                                     "{}",
                                     number_text(base)));
  }
  if (is_nan(number) || is_nan(base)) return not_a_number();
  return log(number, base);
}

template <Answer<Value> (*kFunction)(const Value&, int64_t)>
Answer<Value> to_places(const Arguments& arguments) {
  const Value& number = arguments[0];
  if (is_nullish(number)) return Value::make_null();
  if (!number.is_number()) return wrong_type(51081, arguments.name, kOnlyNumbers, number);
  if (arguments.size() == 1) return kFunction(number, 0);
  const Value& places = arguments[1];
  if (is_nullish(places)) return Value::make_null();
  if (!places.is_number()) {
    return wrong_type(16004, arguments.name, "needs a precision that is a number", places);
  }
  const auto count = exact_integer(places);
  if (!count) {
    return refuse(51082,
                  fmt::format("precision argument to {} must be a integral value", arguments.name));
  }
  return kFunction(number, *count);
}

template <class Combine, int64_t kStart>
Answer<Value> bits(const Arguments& arguments) {
  int64_t result = kStart;
  bool is_long = false;
  bool has_null = false;
  for (const Value& one : arguments.values) {
    if (is_nullish(one)) {
      has_null = true;
      continue;
    }
    if (!is_integer_kind(one)) {
      return wrong_type(kTypeMismatch, arguments.name, "only supports int and long operands", one);
    }
    is_long = is_long || one.number_kind() == NumberKind::int64;
    result = Combine()(result, one.integer());
  }
  if (has_null) return Value::make_null();
  return is_long ? make_int64(result) : make_int32(result);
}

Answer<Value> do_bit_not(const Arguments& arguments) {
  const Value& number = arguments[0];
  if (!is_integer_kind(number)) {
    return wrong_type(28765, "$bitNot", "only supports int and long, not", number);
  }
  return Value::make_integer(~number.integer(), number.number_kind());
}

Answer<Value> do_rand(const Arguments&) {
  thread_local std::mt19937_64 generator(std::random_device{}());
  return Value::make_number(std::uniform_real_distribution<double>(0, 1)(generator));
}

constexpr std::array kArithmeticPositional = {
    PositionalOperator{"$add", 0, kAnyNumber, do_add},
    PositionalOperator{"$subtract", 2, 2, do_subtract, true},
    PositionalOperator{"$multiply", 0, kAnyNumber, do_multiply},
    PositionalOperator{"$divide", 2, 2, of_two<divide, 16609, 16609>, true},
    PositionalOperator{"$mod", 2, 2, of_two<mod, 16611, 16611>, true},
    PositionalOperator{"$pow", 2, 2, of_two<pow, 28762, 28763>, true},
    PositionalOperator{"$log", 2, 2, of_two<do_log, 28756, 28757>, true},
    PositionalOperator{"$abs", 1, 1, of_one<absolute>, true},
    PositionalOperator{"$floor", 1, 1, of_one<do_floor>, true},
    PositionalOperator{"$ceil", 1, 1, of_one<do_ceil>, true},
    PositionalOperator{"$exp", 1, 1, of_one<do_exp>, true},
    PositionalOperator{"$sqrt", 1, 1, of_one<do_sqrt>, true},
    PositionalOperator{"$ln", 1, 1, of_one<do_ln>, true},
    PositionalOperator{"$log10", 1, 1, of_one<do_log10>, true},
    PositionalOperator{"$round", 1, 2, to_places<round>},
    PositionalOperator{"$trunc", 1, 2, to_places<trunc>},
    PositionalOperator{"$bitAnd", 0, kAnyNumber, bits<std::bit_and<int64_t>, -1>},
    PositionalOperator{"$bitOr", 0, kAnyNumber, bits<std::bit_or<int64_t>, 0>},
    PositionalOperator{"$bitXor", 0, kAnyNumber, bits<std::bit_xor<int64_t>, 0>},
    PositionalOperator{"$bitNot", 1, 1, do_bit_not, true},
};

// {$rand: {}} is a call without arguments.
Answer<Node> parse_rand(std::string_view name, const Value& spec, const ParseContext&) {
  if ((!spec.is_object() && !spec.is_array()) || spec.size() != 0) {
    return refuse(3040501, "$rand does not currently accept arguments");
  }
  return call_node(name, do_rand, {});
}

constexpr std::array kArithmeticSpecial = {SpecialOperator{"$rand", parse_rand}};

}  // namespace

OperatorTables arithmetic_operators() {
  return {.positional = kArithmeticPositional, .special = kArithmeticSpecial};
}

}  // namespace orrery::mongo
