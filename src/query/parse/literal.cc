// See literal.h: the tree keeps a literal's parts apart, by its type.
#include "query/parse/literal.h"

#include <string>
#include <utility>
#include <vector>

namespace orrery::query {

using value::Type;
using value::Value;

Value literal_value(const Expr& expr) {
  switch (expr.type) {
    case Type::null:
      return Value::make_null();
    case Type::boolean:
      return Value::make_bool(expr.boolean);
    case Type::number:
      return Value::make_number(expr.number);
    case Type::string:
      return Value::borrow_string(expr.text);
    default:
      return {};
  }
}

ExprPtr make_literal(const Value& value) {
  if (value.is_string()) return make_string(std::string(value.text()));
  if (value.is_number()) return make_number(value.number());
  if (value.is_bool()) return make_boolean(value.boolean());
  if (value.is_object()) {
    std::vector<std::pair<std::string, ExprPtr>> members;
    for (const auto& [name, member] : value.members()) {
      members.emplace_back(std::string(name), make_literal(member));
    }
    return make_object(std::move(members));
  }
  if (value.is_array()) {
    std::vector<ExprPtr> elements;
    for (const Value& element : value.elements()) elements.push_back(make_literal(element));
    return make_array(std::move(elements));
  }
  return make_null();
}

}  // namespace orrery::query
