// Arrays as sets: no duplicates in a result, whose elements keep the order in which they come.
// SETINTERSECT goes by the order of its second argument, as the documented examples do.
#include <unordered_set>
#include <vector>

#include "query/functions/arguments.h"
#include "query/functions/groups.h"

namespace orrery::query {

namespace {

struct HashValue {
  size_t operator()(const Value& value) const { return static_cast<size_t>(value.hash()); }
};
using Set = std::unordered_set<Value, HashValue>;

// Two arrays, and room for their elements in tables and in a result.
bool both_arrays(Arguments arguments, Context& context) {
  if (!arguments[0].is_array() || !arguments[1].is_array()) return false;
  constexpr uint64_t kBytesOfElement = 2 * sizeof(Value) + 32;
  return context.budget.has_room((arguments[0].size() + arguments[1].size()) * kBytesOfElement);
}

Set set_of(const Value& array) {
  Set set;
  for (Value element : array.elements()) set.insert(std::move(element));
  return set;
}

Value set_difference(Arguments arguments, Context& context) {
  if (!both_arrays(arguments, context)) return {};
  Set seen = set_of(arguments[1]);
  std::vector<Value> result;
  for (const Value& element : arguments[0].elements()) {
    if (seen.insert(element).second) result.push_back(element);
  }
  return Value::make_array(std::move(result));
}

Value set_equal(Arguments arguments, Context& context) {
  if (!both_arrays(arguments, context)) return {};
  return boolean(set_of(arguments[0]) == set_of(arguments[1]));
}

Value set_intersect(Arguments arguments, Context& context) {
  if (!both_arrays(arguments, context)) return {};
  Set left = set_of(arguments[0]);
  std::vector<Value> result;
  for (const Value& element : arguments[1].elements()) {
    if (left.erase(element) > 0) result.push_back(element);
  }
  return Value::make_array(std::move(result));
}

Value set_union(Arguments arguments, Context& context) {
  if (!both_arrays(arguments, context)) return {};
  Set seen;
  std::vector<Value> result;
  for (const Value& array : arguments) {
    for (const Value& element : array.elements()) {
      if (seen.insert(element).second) result.push_back(element);
    }
  }
  return Value::make_array(std::move(result));
}

constexpr Function kSetFunctions[] = {
    {"SETDIFFERENCE", 2, 2, set_difference},
    {"SETEQUAL", 2, 2, set_equal},
    {"SETINTERSECT", 2, 2, set_intersect},
    {"SETUNION", 2, 2, set_union},
};

}  // namespace

std::span<const Function> set_functions() {
  return kSetFunctions;
}

}  // namespace orrery::query
