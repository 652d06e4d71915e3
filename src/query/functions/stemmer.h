// The stem of an English word by Porter's algorithm (1980): "bicycles" and "bicycle" become the
// same term. Pure.
#pragma once

#include <string>
#include <string_view>

namespace orrery::query {

// The word in lower case. Words with other than the letters a to z are left as they are.
std::string stem(std::string_view word);

}  // namespace orrery::query
