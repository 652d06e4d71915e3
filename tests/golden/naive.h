// A second evaluator, for tests: a part of the language, straight from the parsed text, with no
// thought for speed. It shares with the real one the parser, values and their order, and nothing
// else.
//
// Understood: paths, literals, arrays, objects, arithmetic, comparison, logic, ??, ?:, IN, BETWEEN,
// IS_DEFINED, IS_NUMBER, ABS, LENGTH, ARRAY_LENGTH, ARRAY_CONTAINS, subqueries (scalar, EXISTS,
// ARRAY, in FROM and JOIN), sources with and without IN, GROUP BY, aggregates (COUNT, SUM, AVG,
// MIN, MAX), DISTINCT, ORDER BY, TOP, OFFSET and LIMIT.
#pragma once

#include <vector>

#include "query/parse/ast.h"
#include "value/value.h"

namespace orrery::query {

std::vector<value::Value> run_naively(const Query& query, std::vector<value::Value> items);

}  // namespace orrery::query
