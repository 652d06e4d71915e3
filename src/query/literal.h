// The value that a literal in a query stands for.
#pragma once

#include "query/ast.h"
#include "value/value.h"

namespace orrery::query {

// `expr` is a literal. The value borrows the text of a string from it.
value::Value literal_value(const Expr& expr);

}  // namespace orrery::query
