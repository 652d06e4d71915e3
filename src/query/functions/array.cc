// Functions of arrays.
//
// ARRAY_CONTAINS_ALL and _ANY are the AND and the OR of ARRAY_CONTAINS, undefined included. The
// aggregates over an array (ARRAY_SUM …) skip undefined elements, which an array cannot hold, and
// are undefined when an element has a type that does not fit.
#include <algorithm>
#include <vector>

#include "query/functions/arguments.h"
#include "query/functions/groups.h"

namespace orrery::query {

namespace {

// Is everything that `part` says also true of `whole`? Objects may have more members.
bool covers(const Value& whole, const Value& part, Budget& budget) {
  if (!part.is_object()) return whole == part;
  if (!whole.is_object()) return false;
  for (const Value::Member& member : part.members()) {
    if (budget.spend(1 + whole.size() / 8)) return false;
    if (!covers(whole.find(member.name), member.value, budget)) return false;
  }
  return true;
}

Value contains(const Value& array, const Value& wanted, bool partial, Budget& budget) {
  if (!array.is_array() || wanted.is_undefined()) return {};
  if (budget.spend_bytes(array.written_bytes())) return {};
  for (const Value& element : array.elements()) {
    if (partial ? covers(element, wanted, budget) : element == wanted) return boolean(true);
    if (partial && budget.is_over()) return {};
  }
  return boolean(false);
}

Value array_contains(Arguments arguments, Context& context) {
  const std::optional<bool> partial = flag(arguments, 2);
  if (!partial) return {};
  return contains(arguments[0], arguments[1], *partial, context.budget);
}

Value array_contains_all(Arguments arguments, Context& context) {
  Conjunction all;
  for (const Value& wanted : arguments.subspan(1)) {
    all.add(contains(arguments[0], wanted, false, context.budget));
  }
  return arguments[0].is_array() ? all.result() : Value();
}

Value array_contains_any(Arguments arguments, Context& context) {
  Disjunction any;
  for (const Value& wanted : arguments.subspan(1)) {
    any.add(contains(arguments[0], wanted, false, context.budget));
  }
  return arguments[0].is_array() ? any.result() : Value();
}

Value array_concat(Arguments arguments, Context& context) {
  size_t elements = 0;
  size_t bytes = 0;
  for (const Value& array : arguments) {
    if (!array.is_array()) return {};
    elements += array.size();
    bytes += array.written_bytes();
  }
  if (!context.may_make(bytes) || !context.budget.has_room(elements * sizeof(Value))) return {};
  std::vector<Value> joined;
  joined.reserve(elements);
  for (const Value& array : arguments) {
    for (Value element : array.elements()) joined.push_back(std::move(element));
  }
  return Value::make_array(std::move(joined));
}

Value array_length(Arguments arguments, Context& /*context*/) {
  if (!arguments[0].is_array()) return {};
  return number(static_cast<double>(arguments[0].size()));
}

// ARRAY_SLICE(array, start [, count]): a negative start counts from the end.
Value array_slice(Arguments arguments, Context& context) {
  if (!arguments[0].is_array()) return {};
  const auto size = static_cast<int64_t>(arguments[0].size());
  const std::optional<int64_t> start = position(arguments[1]);
  const std::optional<int64_t> count = arguments.size() > 2 ? position(arguments[2]) : size;
  if (!start || !count) return {};
  const int64_t begin = *start < 0 ? std::max<int64_t>(size + *start, 0) : std::min(*start, size);
  const int64_t end = begin + std::clamp<int64_t>(*count, 0, size - begin);
  if (!context.budget.has_room(static_cast<uint64_t>(end - begin) * sizeof(Value))) return {};
  std::vector<Value> slice;
  slice.reserve(static_cast<size_t>(end - begin));
  int64_t index = 0;
  for (Value element : arguments[0].elements()) {
    if (index >= begin && index < end) slice.push_back(std::move(element));
    ++index;
  }
  return Value::make_array(std::move(slice));
}

// The numbers of an array; empty when something else is in it.
std::optional<std::vector<double>> numbers_of(const Value& array) {
  if (!array.is_array()) return std::nullopt;
  std::vector<double> numbers;
  numbers.reserve(array.size());
  for (const Value& element : array.elements()) {
    if (!element.is_number()) return std::nullopt;
    numbers.push_back(element.number());
  }
  return numbers;
}

double sum_of(const std::vector<double>& numbers) {
  double sum = 0;
  for (const double each : numbers) sum += each;
  return sum;
}

Value array_sum(Arguments arguments, Context& /*context*/) {
  const auto numbers = numbers_of(arguments[0]);
  return numbers ? number(sum_of(*numbers)) : Value();
}

Value array_avg(Arguments arguments, Context& /*context*/) {
  const auto numbers = numbers_of(arguments[0]);
  if (!numbers || numbers->empty()) return {};
  return number(sum_of(*numbers) / static_cast<double>(numbers->size()));
}

Value array_median(Arguments arguments, Context& /*context*/) {
  auto numbers = numbers_of(arguments[0]);
  if (!numbers || numbers->empty()) return {};
  const size_t middle = numbers->size() / 2;
  std::ranges::sort(*numbers);
  if (numbers->size() % 2 == 1) return number((*numbers)[middle]);
  return number(((*numbers)[middle - 1] + (*numbers)[middle]) / 2);
}

// The first or the last in the order of all values; undefined when there is an array or object.
Value extreme(const Value& array, bool largest) {
  Value best;
  for (Value element : array.elements()) {
    if (element.is_array() || element.is_object()) return {};
    if (best.is_undefined() || (largest ? element > best : element < best)) {
      best = std::move(element);
    }
  }
  return best;
}

Value array_max(Arguments arguments, Context& /*context*/) {
  return extreme(arguments[0], true);
}

Value array_min(Arguments arguments, Context& /*context*/) {
  return extreme(arguments[0], false);
}

constexpr uint16_t kAnyArrays = Function::kAnyNumber;
constexpr Function kArrayFunctions[] = {
    {"ARRAY_AVG", 1, 1, array_avg},
    {"ARRAY_CONCAT", 2, kAnyArrays, array_concat},
    {"ARRAY_CONTAINS", 2, 3, array_contains},
    {"ARRAY_CONTAINS_ALL", 2, kAnyArrays, array_contains_all},
    {"ARRAY_CONTAINS_ANY", 2, kAnyArrays, array_contains_any},
    {"ARRAY_LENGTH", 1, 1, array_length},
    {"ARRAY_MAX", 1, 1, array_max},
    {"ARRAY_MEDIAN", 1, 1, array_median},
    {"ARRAY_MIN", 1, 1, array_min},
    {"ARRAY_SLICE", 2, 3, array_slice},
    {"ARRAY_SUM", 1, 1, array_sum},
    // What queries that clients rewrote may contain.
    {"_TRY_ARRAY_CONTAINS", 2, 3, array_contains},
};

}  // namespace

std::span<const Function> array_functions() {
  return kArrayFunctions;
}

}  // namespace orrery::query
