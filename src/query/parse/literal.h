// The value that a literal in a query stands for, and the other way round.
#pragma once

#include "query/parse/ast.h"
#include "value/value.h"

namespace orrery::query {

// `expr` is a literal. The value borrows the text of a string from it.
value::Value literal_value(const Expr& expr);
// The literal that stands for the value; null for undefined.
ExprPtr make_literal(const value::Value& value);

}  // namespace orrery::query
