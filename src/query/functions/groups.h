// The functions of each group: what registry.cc puts together. One group, one file.
#pragma once

#include <span>

#include "query/functions/registry.h"

namespace orrery::query {

std::span<const Function> array_functions();
std::span<const Function> conditional_functions();
std::span<const Function> conversion_functions();
std::span<const Function> date_functions();
std::span<const Function> full_text_functions();
std::span<const Function> integer_functions();
std::span<const Function> item_functions();
std::span<const Function> math_functions();
std::span<const Function> search_functions();
std::span<const Function> set_functions();
std::span<const Function> spatial_functions();
std::span<const Function> string_functions();
std::span<const Function> type_functions();
std::span<const Function> vector_functions();

}  // namespace orrery::query
