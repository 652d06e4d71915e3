// IS_…: what a value is. They answer for undefined too: false.
#include <cmath>

#include "query/functions/arguments.h"
#include "query/functions/datetime.h"
#include "query/functions/groups.h"

namespace orrery::query {

namespace {

using value::Type;
using Test = bool (*)(const Value&);

template <Test test>
Value answer(Arguments arguments, Context& /*context*/) {
  return boolean(test(arguments[0]));
}

template <Type type>
bool has_type(const Value& value) {
  return value.type() == type;
}

bool is_defined(const Value& value) {
  return !value.is_undefined();
}

bool is_primitive(const Value& value) {
  return is_defined(value) && !value.is_array() && !value.is_object();
}

bool is_finite(const Value& value) {
  return value.is_number() && std::isfinite(value.number());
}

// 9223372036854775807 as written reads as 2^63, the nearest double, and must be an integer:
// so the upper end counts as in.
bool is_integer(const Value& value) {
  if (integer(value)) return true;
  return value.is_number() && value.number() == 9223372036854775808.0;
}

bool is_datetime(const Value& value) {
  return value.is_string() && parse_datetime(value.text()).has_value();
}

constexpr Function kTypeFunctions[] = {
    {"IS_ARRAY", 1, 1, answer<has_type<Type::array>>},
    {"IS_BOOL", 1, 1, answer<has_type<Type::boolean>>},
    // As some clients write it where they go on with an ORDER BY.
    {"IS_BOOLEAN", 1, 1, answer<has_type<Type::boolean>>},
    {"IS_DATETIME", 1, 1, answer<is_datetime>},
    {"IS_DEFINED", 1, 1, answer<is_defined>},
    {"IS_FINITE_NUMBER", 1, 1, answer<is_finite>},
    {"IS_INTEGER", 1, 1, answer<is_integer>},
    {"IS_NULL", 1, 1, answer<has_type<Type::null>>},
    {"IS_NUMBER", 1, 1, answer<has_type<Type::number>>},
    {"IS_OBJECT", 1, 1, answer<has_type<Type::object>>},
    {"IS_PRIMITIVE", 1, 1, answer<is_primitive>},
    {"IS_STRING", 1, 1, answer<has_type<Type::string>>},
};

}  // namespace

std::span<const Function> type_functions() {
  return kTypeFunctions;
}

}  // namespace orrery::query
