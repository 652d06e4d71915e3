// Expressions of math(): numbers, variables, + - * / % ^, parentheses and functions of one number.
//
// Pure; any thread may call. Recursion is bounded.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace orrery::gremlin {

// The names in it, each once, in the order of their first use; `_` is the traverser itself.
Result<std::vector<std::string>> math_variables(std::string_view expression);
Result<double> evaluate_math(std::string_view expression,
                             const std::function<double(std::string_view)>& variable);

}  // namespace orrery::gremlin
