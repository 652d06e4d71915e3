// Prints trees. The text parses to the same tree, whatever the tree holds (except placeholders,
// which are not part of the language). Every operator is parenthesised, strings are in double
// quotes, keywords in capitals.
#pragma once

#include <string>
#include <string_view>

#include "query/parse/ast.h"

namespace orrery::query {

enum class Layout : uint8_t {
  line,     // on one line, with every sort direction spelt out: the form that is compared
  clauses,  // a line for each clause, directions as they were given: what clients get to send back
};

std::string to_text(const Query& query, Layout layout = Layout::line);
std::string to_text(const Expr& expr);

// The spelling of an operator, as printed.
std::string_view to_text(Operator op);

}  // namespace orrery::query
