// From and to strings. STRINGTO… read JSON, white space around it allowed, and are undefined when
// the text is not of that type.
#include <cmath>

#include "query/functions/arguments.h"
#include "query/functions/groups.h"

namespace orrery::query {

namespace {

using value::Type;

Value parse_as(const Value& text, Type type) {
  if (!text.is_string()) return {};
  Result<value::JsonDocument> document = value::JsonDocument::parse(text.text());
  if (!document || document->root().type != type) return {};
  return Value::make_document(*std::move(document));
}

template <Type type>
Value string_to(Arguments arguments, Context& /*context*/) {
  return parse_as(arguments[0], type);
}

Value to_string(Arguments arguments, Context& /*context*/) {
  const Value& value = arguments[0];
  if (value.is_undefined() || value.is_string()) return value;
  if (value.is_number() && !std::isfinite(value.number())) {
    if (std::isnan(value.number())) return Value::borrow_string("NaN");
    return Value::borrow_string(value.number() > 0 ? "Infinity" : "-Infinity");
  }
  return string(value.to_json());
}

constexpr Function kFunctions[] = {
    {"STRINGTOARRAY", 1, 1, string_to<Type::array>},
    {"STRINGTOBOOLEAN", 1, 1, string_to<Type::boolean>},
    {"STRINGTONULL", 1, 1, string_to<Type::null>},
    {"STRINGTONUMBER", 1, 1, string_to<Type::number>},
    {"STRINGTOOBJECT", 1, 1, string_to<Type::object>},
    {"TOSTRING", 1, 1, to_string},
};

}  // namespace

std::span<const Function> conversion_functions() {
  return kFunctions;
}

}  // namespace orrery::query
