// Variables of expressions: names, $let, and `let` of commands.
#include <algorithm>

#include <fmt/format.h>

#include "api/mongo/expression/operators.h"

namespace orrery::mongo {

Answer<void> check_variable_name(std::string_view name) {
  if (name == "CURRENT") return {};
  if (name.empty()) return refuse(16866, "empty variable names are not allowed");
  const auto first = static_cast<unsigned char>(name.front());
  if (!(first >= 'a' && first <= 'z') && first < 0x80) {
    return refuse(16867, fmt::format("'{}' starts with an invalid character for a user variable "
                                     "name",
                                     name));
  }
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || byte == '_' || byte >= 0x80) continue;
    return refuse(16868, fmt::format("'{}' contains an invalid character for a variable name: '{}'",
                                     name, c));
  }
  return {};
}

namespace {

// Whether an expression, as it is written, looks at a document.
bool reads_document(const Value& spec, int depth) {
  if (depth > kMaxNesting) return false;  // is refused where it is parsed
  if (spec.is_string()) {
    const std::string_view text = spec.text();
    const auto is_of = [&](std::string_view name) {
      return text.starts_with(name) && (text.size() == name.size() || text[name.size()] == '.');
    };
    if (text.starts_with("$$")) return is_of("$$ROOT") || is_of("$$CURRENT");
    return text.starts_with('$') && text.size() > 1;
  }
  for (const Value& element : spec.elements()) {
    if (reads_document(element, depth + 1)) return true;
  }
  for (const auto& [name, member] : spec.members()) {
    if (name != "$literal" && reads_document(member, depth + 1)) return true;
  }
  return false;
}

}  // namespace

Answer<void> define_variables(const Value& let, ParseContext& context, Evaluation& evaluation) {
  if (let.is_undefined()) return {};
  if (!let.is_object()) {
    return refuse(kTypeMismatch, fmt::format("'let' must be an object, not {}", type_name(let)));
  }
  for (const auto& [name, spec] : let.members()) {
    if (auto checked = check_variable_name(name); !checked) return checked;
    auto expression = Expression::parse(spec, context);
    if (!expression) return pass(std::move(expression.error()));
    if (reads_document(spec, 0)) {
      return refuse(4890500,
                    fmt::format("the variable '{}' of 'let' looks at a document, and there "
                                "is none yet: use constants and other variables only",
                                name));
    }
    auto value = expression->evaluate(evaluation);
    if (!value) return pass(std::move(value.error()));
    evaluation.variables.resize(context.variables.size());
    context.variables.emplace_back(name);
    evaluation.variables.push_back(value->is_undefined() ? Value() : value->to_owned());
  }
  return {};
}

}  // namespace orrery::mongo
