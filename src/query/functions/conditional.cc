// IIF and CHOOSE.
#include "query/functions/arguments.h"
#include "query/functions/groups.h"

namespace orrery::query {

namespace {

// Whatever is not true, undefined included, takes the last argument.
Value iif(Arguments arguments, Context& /*context*/) {
  return arguments[0].is_true() ? arguments[1] : arguments[2];
}

Value choose_by_index(Arguments arguments, Context& /*context*/) {
  const std::optional<int64_t> index = integer(arguments[0]);
  if (!index || *index < 1 || *index >= static_cast<int64_t>(arguments.size())) return {};
  return arguments[static_cast<size_t>(*index)];
}

constexpr Function kConditionalFunctions[] = {
    {"CHOOSE", 2, Function::kAnyNumber, choose_by_index},
    {"IIF", 3, 3, iif},
};

}  // namespace

std::span<const Function> conditional_functions() {
  return kConditionalFunctions;
}

}  // namespace orrery::query
