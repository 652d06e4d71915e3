// From and to strings. STRINGTO… read JSON, white space around it allowed, and are undefined when
// the text is not of that type.
#include <algorithm>
#include <cmath>

#include "query/functions/arguments.h"
#include "query/functions/groups.h"

namespace orrery::query {

namespace {

using value::Type;

Value parse_as(const Value& text, Type type, Context& context) {
  if (!text.is_string()) return {};
  // A parsed tree takes many times the memory of its text. The number of its nodes is at most one
  // more than that of the opening brackets and commas in the text.
  const auto nodes =
      std::ranges::count_if(text.text(), [](char c) { return c == ',' || c == '[' || c == '{'; });
  const auto bytes = (static_cast<uint64_t>(nodes) + 1) * sizeof(value::Node);
  if (!context.budget.has_room(bytes + 2 * text.text().size())) return {};
  Result<value::JsonDocument> document = value::JsonDocument::parse(text.text());
  if (!document || document->root().type != type) return {};
  return Value::make_document(*std::move(document));
}

template <Type type>
Value string_to(Arguments arguments, Context& context) {
  return parse_as(arguments[0], type, context);
}

Value to_string(Arguments arguments, Context& context) {
  const Value& value = arguments[0];
  if (value.is_undefined() || value.is_string()) return value;
  if (value.is_number() && !std::isfinite(value.number())) {
    if (std::isnan(value.number())) return Value::borrow_string("NaN");
    return Value::borrow_string(value.number() > 0 ? "Infinity" : "-Infinity");
  }
  std::string json;
  if (!value.append_json(json, kValueBytesMax)) {
    context.budget.end(Budget::Ended::memory);
    return {};
  }
  return string(std::move(json));
}

constexpr Function kConversionFunctions[] = {
    {"STRINGTOARRAY", 1, 1, string_to<Type::array>},
    {"STRINGTOBOOLEAN", 1, 1, string_to<Type::boolean>},
    {"STRINGTONULL", 1, 1, string_to<Type::null>},
    {"STRINGTONUMBER", 1, 1, string_to<Type::number>},
    {"STRINGTOOBJECT", 1, 1, string_to<Type::object>},
    {"TOSTRING", 1, 1, to_string},
};

}  // namespace

std::span<const Function> conversion_functions() {
  return kConversionFunctions;
}

}  // namespace orrery::query
