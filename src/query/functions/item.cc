// Functions of items and objects.
#include <optional>
#include <vector>

#include "query/functions/arguments.h"
#include "query/functions/groups.h"

namespace orrery::query {

namespace {

// The number of an item within its physical partition.
Value document_id(Arguments arguments, Context& context) {
  if (!arguments[0].is_object() || context.item_number == nullptr) return {};
  const std::optional<double> found = context.item_number(arguments[0]);
  return found ? number(*found) : Value{};
}

Value object_to_array(Arguments arguments, Context& context) {
  if (!arguments[0].is_object() || !all_strings(arguments.subspan(1))) return {};
  constexpr size_t kBytesOfPair = 4 * sizeof(Value) + 200;
  if (!context.budget.has_room(arguments[0].size() * kBytesOfPair)) return {};
  const Value name = arguments.size() > 1 ? arguments[1] : Value::borrow_string("k");
  const Value content = arguments.size() > 2 ? arguments[2] : Value::borrow_string("v");
  std::vector<Value> pairs;
  pairs.reserve(arguments[0].size());
  for (Value::Member member : arguments[0].members()) {
    pairs.push_back(Value::make_object({{.name = name, .value = string(std::string(member.name))},
                                        {.name = content, .value = std::move(member.value)}}));
  }
  return Value::make_array(std::move(pairs));
}

constexpr Function kItemFunctions[] = {
    {"DOCUMENTID", 1, 1, document_id},
    {"OBJECTTOARRAY", 1, 3, object_to_array},
};

}  // namespace

std::span<const Function> item_functions() {
  return kItemFunctions;
}

}  // namespace orrery::query
