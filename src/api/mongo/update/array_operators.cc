// The operators on arrays: $push, $addToSet, $pop, $pull, $pullAll. See operators.h.
#include <algorithm>
#include <array>
#include <numeric>
#include <unordered_set>

#include <fmt/format.h>

#include "api/mongo/bson/numbers.h"
#include "api/mongo/bson/types.h"
#include "api/mongo/match/path.h"
#include "api/mongo/update/operators.h"

namespace orrery::mongo {
namespace {

using Missing = Modifier::Missing;

std::vector<Value> elements_of(const Value& array) {
  std::vector<Value> elements;
  for (const Value& element : array.elements()) elements.push_back(element);
  return elements;
}

// --- $push

// What $push sorts elements by: their values, or paths in them. Arrays on these paths are not
// entered.
struct ElementSort {
  struct Part {
    std::vector<std::string> path;
    bool descending = false;
  };
  std::vector<Part> parts;  // of one part with an empty path: by the values

  static Value at(const Value& element, const std::vector<std::string>& path) {
    Value value = element;
    for (const std::string& name : path) value = value.find(name);
    return value.is_undefined() && !path.empty() ? Value::make_null() : value;
  }
  bool operator()(const Value& a, const Value& b, const Collation* collation) const {
    for (const Part& part : parts) {
      const std::strong_ordering order = compare(at(a, part.path), at(b, part.path), collation);
      if (order != 0) return part.descending ? order > 0 : order < 0;
    }
    return false;
  }
};

Answer<ElementSort> parse_element_sort(const Value& spec) {
  const auto direction = [](const Value& number) -> Answer<bool> {
    const std::optional<int64_t> sign = exact_integer(number);
    if (sign != 1 && sign != -1) {
      return refuse(kBadValue, "The $sort element value must be either 1 or -1");
    }
    return *sign < 0;
  };
  ElementSort sort;
  if (spec.is_number()) {
    const Answer<bool> descending = direction(spec);
    if (!descending) return pass(descending.error());
    sort.parts.push_back({.path = {}, .descending = *descending});
    return sort;
  }
  if (!spec.is_object()) {
    return refuse(kBadValue,
                  "The $sort is invalid: use 1/-1 to sort the whole element, or {field:1/-1} to "
                  "sort embedded fields");
  }
  if (spec.size() == 0)
    return refuse(kBadValue, "The $sort pattern is empty when it should be a set of fields.");
  for (const auto& [path, number] : spec.members()) {
    if (path.empty()) return refuse(kBadValue, "The $sort field cannot be empty");
    ElementSort::Part part{.path = split_path(path), .descending = false};
    if (std::ranges::any_of(part.path, &std::string::empty)) {
      return refuse(
          kBadValue,
          fmt::format("The $sort field is a dotted field but has an empty part: {}", path));
    }
    const Answer<bool> descending = direction(number);
    if (!descending) return pass(descending.error());
    part.descending = *descending;
    sort.parts.push_back(std::move(part));
  }
  return sort;
}

// The standard library's stable sort asks for a buffer by a function that is deprecated.
void sort_stably(std::vector<Value>& elements, const ElementSort& sort,
                 const Collation* collation) {
  std::vector<size_t> order(elements.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, [&](size_t a, size_t b) {
    if (sort(elements[a], elements[b], collation)) return true;
    return a < b && !sort(elements[b], elements[a], collation);
  });
  std::vector<Value> sorted;
  sorted.reserve(elements.size());
  for (const size_t i : order) sorted.push_back(std::move(elements[i]));
  elements = std::move(sorted);
}

struct Push {
  std::vector<Value> values;
  std::optional<int64_t> position;
  std::optional<int64_t> slice;
  std::optional<ElementSort> sort;
};

Answer<int64_t> parse_integer(std::string_view name, const Value& number) {
  const std::optional<int64_t> integer = exact_integer(number);
  if (!integer.has_value()) {
    return refuse(kBadValue,
                  fmt::format("The value for {} must be an integer value but was given type: {}",
                              name, type_name(number)));
  }
  return *integer;
}

Answer<Push> parse_push_spec(const Value& operand) {
  Push push;
  if (!operand.is_object() || operand.find("$each").is_undefined()) {
    push.values.push_back(operand);
    return push;
  }
  for (const auto& [name, value] : operand.members()) {
    if (name == "$each") {
      if (!value.is_array()) {
        return refuse(
            kBadValue,
            fmt::format("The argument to $each in $push must be an array but it was of type: {}",
                        type_name(value)));
      }
      push.values = elements_of(value);
    } else if (name == "$position" || name == "$slice") {
      const Answer<int64_t> integer = parse_integer(name, value);
      if (!integer) return pass(integer.error());
      (name == "$position" ? push.position : push.slice) = *integer;
    } else if (name == "$sort") {
      Answer<ElementSort> sort = parse_element_sort(value);
      if (!sort) return pass(std::move(sort.error()));
      push.sort = *std::move(sort);
    } else {
      return refuse(kBadValue, fmt::format("Unrecognized clause in $push: {}", name));
    }
  }
  return push;
}

Value pushed(const Push& push, const Value& current, const Collation* collation) {
  std::vector<Value> elements = elements_of(current);
  const auto size = static_cast<int64_t>(elements.size());
  int64_t at = push.position.value_or(size);
  at = at < 0 ? std::max<int64_t>(0, size + at) : std::min(at, size);
  elements.insert(elements.begin() + at, push.values.begin(), push.values.end());
  if (push.sort.has_value()) {
    sort_stably(elements, *push.sort, collation);
  }
  if (push.slice.has_value()) {
    const auto all = static_cast<int64_t>(elements.size());
    if (*push.slice >= 0) {
      elements.resize(static_cast<size_t>(std::min(*push.slice, all)));
    } else if (*push.slice > -all) {
      elements.erase(elements.begin(), elements.begin() + (all + *push.slice));
    }
  }
  return Value::make_array(std::move(elements));
}

Answer<Modifier> parse_push(std::string_view path, const Value& operand, const MatchOptions&) {
  Answer<Push> push = parse_push_spec(operand);
  if (!push) return pass(std::move(push.error()));
  return Modifier{.apply = [push = *std::move(push), path = std::string(path)](
                               const Value& current, UpdateState& state) -> Answer<Value> {
    if (!current.is_undefined() && !current.is_array()) {
      return refuse(kBadValue, fmt::format("The field '{}' must be an array but is of type {}",
                                           path, type_name(current)));
    }
    if (const Answer<void> spent = state.evaluation.spend(current.size() + push.values.size());
        !spent)
      return pass(spent.error());
    return pushed(push, current, state.collation);
  }};
}

// --- $addToSet

Answer<Modifier> parse_add_to_set(std::string_view path, const Value& operand,
                                  const MatchOptions&) {
  std::vector<Value> values = {operand};
  bool is_each = false;
  for (const auto& [name, value] : operand.members()) {
    if (name == "$each" && !is_each) {
      if (!value.is_array()) {
        return refuse(
            kTypeMismatch,
            fmt::format("The argument to $each in $addToSet must be an array but it was of type {}",
                        type_name(value)));
      }
      is_each = true;
      values = elements_of(value);
      continue;
    }
    if (!is_each) break;  // a document to be added
    return refuse(kBadValue,
                  fmt::format("Found unexpected fields after $each in $addToSet: {}", name));
  }
  return Modifier{.apply = [values = std::move(values), path = std::string(path)](
                               const Value& current, UpdateState& state) -> Answer<Value> {
    if (!current.is_undefined() && !current.is_array()) {
      return refuse(
          kBadValue,
          fmt::format(
              "Cannot apply $addToSet to non-array field. Field named '{}' has non-array type {}",
              path, type_name(current)));
    }
    if (const Answer<void> spent = state.evaluation.spend(current.size() + values.size()); !spent)
      return pass(spent.error());
    std::vector<Value> elements = elements_of(current);
    std::unordered_set<Value, ValueHash, ValueEqual> known(elements.begin(), elements.end(), 0,
                                                           ValueHash{state.collation},
                                                           ValueEqual{state.collation});
    for (const Value& value : values) {
      if (known.insert(value).second) elements.push_back(value);
    }
    return Value::make_array(std::move(elements));
  }};
}

// --- taking away

Answer<Modifier> parse_pop(std::string_view path, const Value& operand, const MatchOptions&) {
  const std::optional<int64_t> end = exact_integer(operand);
  if (!operand.is_number()) {
    return refuse(kFailedToParse,
                  fmt::format("Expected a number in: {}: {}", path, shown(operand)));
  }
  if (end != 1 && end != -1) {
    return refuse(kFailedToParse, fmt::format("$pop expects 1 or -1, found: {}", shown(operand)));
  }
  return Modifier{.apply = [is_first = *end < 0, path = std::string(path)](
                               const Value& current, UpdateState&) -> Answer<Value> {
                    if (current.is_undefined()) return current;
                    if (!current.is_array()) {
                      return refuse(
                          kTypeMismatch,
                          fmt::format("Path '{}' contains an element of non-array type '{}'", path,
                                      type_name(current)));
                    }
                    std::vector<Value> elements = elements_of(current);
                    if (!elements.empty())
                      elements.erase(is_first ? elements.begin() : elements.end() - 1);
                    return Value::make_array(std::move(elements));
                  },
                  .missing = Missing::ignore};
}

// Removes the elements for which `takes` answers true.
template <class Takes>
Modifier removal(std::string_view name, std::string_view path, Takes takes) {
  return Modifier{.apply = [takes = std::move(takes), name, path = std::string(path)](
                               const Value& current, UpdateState& state) -> Answer<Value> {
                    if (current.is_undefined()) return current;
                    if (!current.is_array()) {
                      return refuse(
                          kBadValue,
                          fmt::format("Cannot apply {} to a non-array value at '{}'", name, path));
                    }
                    std::vector<Value> kept;
                    for (const Value& element : current.elements()) {
                      const Answer<bool> taken = takes(element, state);
                      if (!taken) return pass(taken.error());
                      if (!*taken) kept.push_back(element);
                    }
                    return Value::make_array(std::move(kept));
                  },
                  .missing = Missing::ignore};
}

Answer<Modifier> parse_pull(std::string_view path, const Value& operand,
                            const MatchOptions& options) {
  Answer<ValueMatcher> matcher = ValueMatcher::parse(operand, options);
  if (!matcher) return pass(std::move(matcher.error()));
  return removal("$pull", path,
                 [matcher = *std::move(matcher)](const Value& element, UpdateState& state) {
                   return matcher.matches(element, state.evaluation);
                 });
}

Answer<Modifier> parse_pull_all(std::string_view path, const Value& operand,
                                const MatchOptions& options) {
  if (!operand.is_array()) {
    return refuse(kBadValue, fmt::format("$pullAll requires an array argument but was given a {}",
                                         type_name(operand)));
  }
  const std::vector<Value> values = elements_of(operand);
  const std::shared_ptr<const Collation> collation = options.collation;
  auto taken = std::make_shared<std::unordered_set<Value, ValueHash, ValueEqual>>(
      values.begin(), values.end(), 0, ValueHash{collation.get()}, ValueEqual{collation.get()});
  return removal("$pullAll", path,
                 [taken = std::move(taken), collation](const Value& element,
                                                       UpdateState& state) -> Answer<bool> {
                   if (const Answer<void> spent = state.evaluation.spend(1); !spent)
                     return pass(spent.error());
                   return taken->contains(element);
                 });
}

constexpr std::array kArrayOperators = {
    UpdateOperator{"$push", parse_push},        UpdateOperator{"$addToSet", parse_add_to_set},
    UpdateOperator{"$pop", parse_pop},          UpdateOperator{"$pull", parse_pull},
    UpdateOperator{"$pullAll", parse_pull_all},
};

}  // namespace

const UpdateOperator* find_array_operator(std::string_view name) {
  const auto* const found = std::ranges::find(kArrayOperators, name, &UpdateOperator::name);
  return found == kArrayOperators.end() ? nullptr : found;
}

}  // namespace orrery::mongo
