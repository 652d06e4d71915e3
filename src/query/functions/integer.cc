// INT…: arithmetic on 64-bit signed integers. A number with a fraction or beyond 64 bits gives
// undefined, and so does division by zero. Sums and products wrap around, as in the documented
// language; a result is a number again, so beyond 2^53 it is rounded to a double.
#include <limits>

#include "query/functions/arguments.h"
#include "query/functions/groups.h"

namespace orrery::query {

namespace {

using Operation = std::optional<int64_t> (*)(int64_t, int64_t);

int64_t wrap(uint64_t bits) {
  return static_cast<int64_t>(bits);
}
uint64_t bits_of(int64_t number) {
  return static_cast<uint64_t>(number);
}

std::optional<int64_t> add(int64_t a, int64_t b) {
  return wrap(bits_of(a) + bits_of(b));
}
std::optional<int64_t> subtract(int64_t a, int64_t b) {
  return wrap(bits_of(a) - bits_of(b));
}
std::optional<int64_t> multiply(int64_t a, int64_t b) {
  return wrap(bits_of(a) * bits_of(b));
}
std::optional<int64_t> divide(int64_t a, int64_t b) {
  if (b == 0) return std::nullopt;
  return b == -1 ? subtract(0, a) : a / b;
}
std::optional<int64_t> modulo(int64_t a, int64_t b) {
  if (b == 0) return std::nullopt;
  return b == -1 ? 0 : a % b;
}
std::optional<int64_t> bit_and(int64_t a, int64_t b) {
  return a & b;
}
std::optional<int64_t> bit_or(int64_t a, int64_t b) {
  return a | b;
}
std::optional<int64_t> bit_xor(int64_t a, int64_t b) {
  return a ^ b;
}
// Shifts go by the low six bits of the count, as in C# and JavaScript.
std::optional<int64_t> shift_left(int64_t a, int64_t b) {
  return wrap(bits_of(a) << (bits_of(b) & 63));
}
std::optional<int64_t> shift_right(int64_t a, int64_t b) {
  return a >> (bits_of(b) & 63);
}

template <Operation operation>
Value integer_binary(Arguments arguments, Context& /*context*/) {
  const std::optional<int64_t> left = integer(arguments[0]);
  const std::optional<int64_t> right = integer(arguments[1]);
  if (!left || !right) return {};
  const std::optional<int64_t> result = operation(*left, *right);
  return result ? number(static_cast<double>(*result)) : Value();
}

Value bit_not(Arguments arguments, Context& /*context*/) {
  const std::optional<int64_t> operand = integer(arguments[0]);
  return operand ? number(static_cast<double>(~*operand)) : Value();
}

constexpr Function kIntegerFunctions[] = {
    {"INTADD", 2, 2, integer_binary<add>},
    {"INTBITAND", 2, 2, integer_binary<bit_and>},
    {"INTBITLEFTSHIFT", 2, 2, integer_binary<shift_left>},
    {"INTBITNOT", 1, 1, bit_not},
    {"INTBITOR", 2, 2, integer_binary<bit_or>},
    {"INTBITRIGHTSHIFT", 2, 2, integer_binary<shift_right>},
    {"INTBITXOR", 2, 2, integer_binary<bit_xor>},
    {"INTDIV", 2, 2, integer_binary<divide>},
    {"INTMOD", 2, 2, integer_binary<modulo>},
    {"INTMUL", 2, 2, integer_binary<multiply>},
    {"INTSUB", 2, 2, integer_binary<subtract>},
};

}  // namespace

std::span<const Function> integer_functions() {
  return kIntegerFunctions;
}

}  // namespace orrery::query
