// See registry.h.
#include "query/functions/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "query/functions/groups.h"

namespace orrery::query {

namespace {

std::string in_upper_case(std::string_view name) {
  std::string out(name);
  for (char& c : out) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return out;
}

std::vector<Function> collect() {
  std::vector<Function> all;
  for (const std::span<const Function> group :
       {array_functions(), conditional_functions(), conversion_functions(), date_functions(),
        full_text_functions(), integer_functions(), item_functions(), math_functions(),
        search_functions(), set_functions(), spatial_functions(), string_functions(),
        type_functions(), vector_functions()}) {
    all.insert(all.end(), group.begin(), group.end());
  }
  std::ranges::sort(all, {}, &Function::name);
  return all;
}

}  // namespace

std::span<const Function> all_functions() {
  static const std::vector<Function> all = collect();
  return all;
}

const Function* find_function(std::string_view name) {
  const std::string wanted = in_upper_case(name);
  const std::span<const Function> all = all_functions();
  const auto found = std::ranges::lower_bound(all, std::string_view(wanted), {}, &Function::name);
  return found != all.end() && found->name == wanted ? &*found : nullptr;
}

std::expected<const Function*, FunctionError> resolve_function(std::string_view name,
                                                               size_t arguments) {
  const Function* const function = find_function(name);
  if (function == nullptr) {
    return std::unexpected(FunctionError{
        .fault = QueryFault::unknown_function,
        .message = fmt::format("'{}' is not a recognized built-in function name.", name)});
  }
  const uint16_t min = function->min_arguments;
  const uint16_t max = function->max_arguments;
  if (arguments >= min && arguments <= max) return function;
  std::string wanted = std::to_string(min);
  if (max == Function::kAnyNumber) {
    wanted = fmt::format("at least {}", min);
  } else if (max != min) {
    wanted = fmt::format("{} to {}", min, max);
  }
  return std::unexpected(FunctionError{
      .fault = QueryFault::argument_count,
      .message = fmt::format("The {} function requires {} argument(s).", function->name, wanted)});
}

bool is_rank_function(std::string_view name) {
  const std::string wanted = in_upper_case(name);
  return wanted == "FULLTEXTSCORE" || wanted == "RRF";
}

}  // namespace orrery::query
