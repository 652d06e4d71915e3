// See operators.h.
#include "query/functions/operators.h"

#include <cmath>
#include <string>

namespace orrery::query {

namespace {

// JavaScript's ToInt32: modulo 2^32, what is not finite is 0.
int32_t to_int32(double number) {
  if (!std::isfinite(number)) return 0;
  constexpr double kTwo32 = 4294967296.0;
  double rest = std::fmod(std::trunc(number), kTwo32);
  if (rest < 0) rest += kTwo32;
  return static_cast<int32_t>(static_cast<uint32_t>(rest));
}

double calculate(Binary operation, double left, double right) {
  const auto bits = [](double number) { return static_cast<uint32_t>(to_int32(number)); };
  const auto as_signed = [](uint32_t result) {
    return static_cast<double>(static_cast<int32_t>(result));
  };
  switch (operation) {
    case Binary::add:
      return left + right;
    case Binary::subtract:
      return left - right;
    case Binary::multiply:
      return left * right;
    case Binary::divide:
      return left / right;
    case Binary::modulo:
      return std::fmod(left, right);
    case Binary::bit_and:
      return as_signed(bits(left) & bits(right));
    case Binary::bit_or:
      return as_signed(bits(left) | bits(right));
    case Binary::bit_xor:
      return as_signed(bits(left) ^ bits(right));
    case Binary::shift_left:
      return as_signed(bits(left) << (bits(right) & 31));
    case Binary::shift_right:
      return to_int32(left) >> (bits(right) & 31);
    case Binary::shift_right_unsigned:
      return bits(left) >> (bits(right) & 31);
    default:
      return 0;
  }
}

Value compare(Binary operation, const Value& left, const Value& right) {
  if (left.type() != right.type()) return {};
  if (left.is_undefined() || left.is_array() || left.is_object()) return {};
  // As IEEE has it, nothing compares with NaN.
  if (left.is_number() && (std::isnan(left.number()) || std::isnan(right.number()))) {
    return Value::make_bool(false);
  }
  const auto order = left <=> right;
  switch (operation) {
    case Binary::less:
      return Value::make_bool(order < 0);
    case Binary::less_or_equal:
      return Value::make_bool(order <= 0);
    case Binary::greater:
      return Value::make_bool(order > 0);
    default:
      return Value::make_bool(order >= 0);
  }
}

Value decide(const Value& left, const Value& right, bool deciding) {
  for (const Value* const side : {&left, &right}) {
    if (side->is_bool() && side->boolean() == deciding) return Value::make_bool(deciding);
  }
  return left.is_bool() && right.is_bool() ? Value::make_bool(!deciding) : Value();
}

}  // namespace

Value apply(Binary operation, const Value& left, const Value& right) {
  switch (operation) {
    case Binary::add:
    case Binary::subtract:
    case Binary::multiply:
    case Binary::divide:
    case Binary::modulo:
    case Binary::bit_and:
    case Binary::bit_or:
    case Binary::bit_xor:
    case Binary::shift_left:
    case Binary::shift_right:
    case Binary::shift_right_unsigned:
      if (!left.is_number() || !right.is_number()) return {};
      return Value::make_number(calculate(operation, left.number(), right.number()));
    case Binary::equal:
    case Binary::not_equal:
      if (left.is_undefined() || right.is_undefined()) return {};
      return Value::make_bool((left == right) == (operation == Binary::equal));
    case Binary::less:
    case Binary::less_or_equal:
    case Binary::greater:
    case Binary::greater_or_equal:
      return compare(operation, left, right);
    case Binary::logical_and:
      return decide(left, right, false);
    case Binary::logical_or:
      return decide(left, right, true);
    case Binary::concat: {
      if (!left.is_string() || !right.is_string()) return {};
      std::string joined(left.text());
      joined.append(right.text());
      return Value::make_string(std::move(joined));
    }
    case Binary::coalesce:
      return left.is_undefined() ? right : left;
  }
  return {};
}

Value apply(Unary operation, const Value& operand) {
  if (operation == Unary::logical_not) {
    return operand.is_bool() ? Value::make_bool(!operand.boolean()) : Value();
  }
  if (!operand.is_number()) return {};
  switch (operation) {
    case Unary::minus:
      return Value::make_number(-operand.number());
    case Unary::bit_not:
      return Value::make_number(~to_int32(operand.number()));
    default:
      return operand;
  }
}

Value is_between(const Value& value, const Value& low, const Value& high) {
  return decide(compare(Binary::greater_or_equal, value, low),
                compare(Binary::less_or_equal, value, high), false);
}

const Value& choose(const Value& condition, const Value& when_true, const Value& otherwise) {
  return condition.is_true() ? when_true : otherwise;
}

}  // namespace orrery::query
