// For tests: calls a function on arguments written as a JSON array and gives its result as JSON.
// "undefined" stands for undefined on both sides; so does the word in the arguments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "query/functions/datetime.h"
#include "query/functions/registry.h"

namespace orrery::query {

inline Value parse(std::string_view json) {
  return Value::make_document(value::JsonDocument::parse(json).value());
}

// The string "undefined" becomes undefined.
inline std::vector<Value> parse_arguments(std::string_view json) {
  std::vector<Value> arguments;
  const Value array = parse(json);
  for (const Value& element : array.elements()) {
    const bool is_undefined = element.is_string() && element.text() == "undefined";
    arguments.push_back(is_undefined ? Value() : element);
  }
  return arguments;
}

inline std::string show(const Value& value) {
  return value.is_undefined() ? "undefined" : value.to_json();
}

class Evaluator {
 public:
  Evaluator() { context.now_ticks = parse_datetime("2024-10-14T14:20:30.6668888Z").value(); }

  std::string operator()(std::string_view name, std::string_view arguments) {
    const std::vector<Value> values = parse_arguments(arguments);
    const auto function = resolve_function(name, values.size());
    if (!function) return function.error().message;
    return show((*function)->call(values, context));
  }

  Context context;
};

}  // namespace orrery::query
