// See literal.h: the tree keeps a literal's parts apart, by its type.
#include "query/literal.h"

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

}  // namespace orrery::query
