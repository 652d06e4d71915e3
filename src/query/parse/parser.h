// Query text → tree. Pure: nothing is resolved here, neither names nor functions nor parameters.
//
// From the loosest to the tightest:
//   ? :            right to left
//   ??
//   OR
//   AND
//   IN  BETWEEN  LIKE (and NOT before them): do not chain
//   ||
//   |    ^    &    = != <>    < <= > >=    << >> >>>    + -    * / %
//   + - ~ NOT      before an operand (NOT a = b is (NOT a) = b)
//   .name  [expr]
#pragma once

#include <expected>
#include <string_view>

#include "query/parse/ast.h"
#include "query/parse/lexer.h"
#include "query/parse/parser_error.h"

namespace orrery::query {

// Limits on the nesting of the text and on the height of the tree. They bound the recursion of the
// parser and of functions over trees. A printed tree never nests deeper than the first.
inline constexpr int kMaxNesting = 512;
inline constexpr int kMaxTreeHeight = 240;
// Of one SELECT. The language's limits.
inline constexpr size_t kMaxJoins = 10;
inline constexpr size_t kMaxUdfCalls = 10;  // the binder counts them
// Limits of this parser: the language bounds these lists only by the length of the text. They keep
// binding fast, which compares every selected expression with each one of GROUP BY and ORDER BY.
inline constexpr size_t kMaxInItems = 65'536;
inline constexpr size_t kMaxGroupBy = 256;
inline constexpr size_t kMaxOrderBy = 256;
inline constexpr size_t kMaxRankScores = 32;  // of RRF

std::expected<Query, SyntaxError> parse_query(std::string_view text);

// A lone expression: for computed properties and tests.
std::expected<ExprPtr, SyntaxError> parse_expression(std::string_view text);

}  // namespace orrery::query
