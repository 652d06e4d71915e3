// Operators on arrays that need no variables.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "api/mongo/expression/operators.h"

namespace orrery::mongo {
namespace {

std::vector<Value> elements_of(const Value& array) {
  std::vector<Value> elements;
  elements.reserve(array.size());
  for (const Value& element : array.elements()) elements.push_back(element);
  return elements;
}

Answer<Value> make_elements(const Arguments& arguments, std::vector<Value> elements) {
  if (auto room = arguments.evaluation.take(elements.size() * sizeof(Value)); !room) {
    return pass(std::move(room.error()));
  }
  return Value::make_array(std::move(elements));
}

std::optional<int32_t> to_int32(const Value& number) {
  const auto integer = exact_integer(number);
  if (!integer || *integer < std::numeric_limits<int32_t>::min() ||
      *integer > std::numeric_limits<int32_t>::max()) {
    return std::nullopt;
  }
  return static_cast<int32_t>(*integer);
}

Answer<Value> do_array_elem_at(const Arguments& arguments) {
  const Value& array = arguments[0];
  const Value& index = arguments[1];
  if (!array.is_array()) {
    return refuse(28689, fmt::format("$arrayElemAt's first argument must be an array, but is {}",
                                     type_name(array)));
  }
  if (!index.is_number()) {
    return refuse(28690, fmt::format("$arrayElemAt's second argument must be a numeric value, but "
                                     "is {}",
                                     type_name(index)));
  }
  const auto at = to_int32(index);
  if (!at) {
    return refuse(28691, fmt::format("$arrayElemAt's second argument must be representable as a "
                                     "32-bit integer: {}",
                                     number_text(index)));
  }
  const auto size = static_cast<int64_t>(array.size());
  const int64_t place = *at < 0 ? size + *at : *at;
  if (place < 0 || place >= size) return Value();
  return array.at(static_cast<size_t>(place));
}

template <bool kLast>
Answer<Value> end_of(const Arguments& arguments) {
  const Value& array = arguments[0];
  if (!array.is_array()) {
    return refuse(28689, fmt::format("{}'s argument must be an array, but is {}", arguments.name,
                                     type_name(array)));
  }
  if (array.size() == 0) return Value();
  return array.at(kLast ? array.size() - 1 : 0);
}

Answer<Value> do_concat_arrays(const Arguments& arguments) {
  std::vector<Value> all;
  for (const Value& array : arguments.values) {
    if (is_nullish(array)) return Value::make_null();
    if (!array.is_array()) return wrong_type(28664, "$concatArrays", "only supports arrays", array);
    for (const Value& element : array.elements()) all.push_back(element);
  }
  return make_elements(arguments, std::move(all));
}

Answer<Value> do_is_array(const Arguments& arguments) {
  return Value::make_bool(arguments[0].is_array());
}

Answer<Value> do_size(const Arguments& arguments) {
  if (!arguments[0].is_array()) {
    return refuse(17124, fmt::format("The argument to $size must be an array, but was of type: {}",
                                     type_name(arguments[0])));
  }
  return make_int32(static_cast<int64_t>(arguments[0].size()));
}

Answer<Value> do_reverse(const Arguments& arguments) {
  if (!arguments[0].is_array()) {
    return refuse(34435, fmt::format("The argument to $reverseArray must be an array, but was of "
                                     "type: {}",
                                     type_name(arguments[0])));
  }
  auto elements = elements_of(arguments[0]);
  std::ranges::reverse(elements);
  return make_elements(arguments, std::move(elements));
}

Answer<Value> do_slice(const Arguments& arguments) {
  const Value& array = arguments[0];
  for (const Value& one : arguments.values) {
    if (is_nullish(one)) return Value::make_null();
  }
  if (!array.is_array()) {
    return refuse(28724, fmt::format("First argument to $slice must be an array, but is of type: "
                                     "{}",
                                     type_name(array)));
  }
  std::array<int32_t, 2> numbers = {};
  for (size_t i = 1; i < arguments.size(); ++i) {
    const auto number = to_int32(arguments[i]);
    if (!number) {
      return refuse(i == 1 ? 28725 : 28727,
                    fmt::format("argument {} of $slice must be a number that is a 32-bit integer: "
                                "{}",
                                i + 1, shown(arguments[i])));
    }
    numbers[i - 1] = *number;
  }
  const auto size = static_cast<int64_t>(array.size());
  int64_t start = 0;
  int64_t count = 0;
  if (arguments.size() == 2) {
    count = std::min<int64_t>(size, std::abs(int64_t{numbers[0]}));
    start = numbers[0] < 0 ? size - count : 0;
  } else {
    if (numbers[1] <= 0) {
      return refuse(28729,
                    fmt::format("Third argument to $slice must be positive: {}", numbers[1]));
    }
    start = numbers[0] < 0 ? std::max<int64_t>(0, size + numbers[0])
                           : std::min<int64_t>(size, numbers[0]);
    count = std::min<int64_t>(numbers[1], size - start);
  }
  std::vector<Value> part;
  int64_t at = 0;
  for (const Value& element : array.elements()) {
    if (at >= start + count) break;
    if (at++ >= start) part.push_back(element);
  }
  return make_elements(arguments, std::move(part));
}

Answer<Value> do_range(const Arguments& arguments) {
  constexpr std::array<std::string_view, 3> kNames = {"starting", "ending", "step"};
  std::array<int64_t, 3> numbers = {0, 0, 1};
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto code = static_cast<int32_t>(34443 + 2 * i);
    if (!arguments[i].is_number()) {
      return refuse(code, fmt::format("$range requires a numeric {} value, found value of type: {}",
                                      kNames[i], type_name(arguments[i])));
    }
    const auto number = to_int32(arguments[i]);
    if (!number) {
      return refuse(code + 1, fmt::format("$range requires a {} value that can be represented as a "
                                          "32-bit integer, found value: {}",
                                          kNames[i], number_text(arguments[i])));
    }
    numbers[i] = *number;
  }
  const auto [start, end, step] = numbers;
  if (step == 0) return refuse(34449, "$range requires a non-zero step value");
  if ((step > 0) != (end > start) || start == end) return Value::make_array({});
  const auto count = static_cast<size_t>((end - start + (step > 0 ? step - 1 : step + 1)) / step);
  if (auto room = arguments.evaluation.take(count * sizeof(Value)); !room) {
    return pass(std::move(room.error()));
  }
  if (count * sizeof(Value) > kMaxExpressionBytes) {
    return refuse(kQueryExceededMemory, "$range would use too much memory");
  }
  std::vector<Value> values;
  values.reserve(count);
  for (int64_t number = start; step > 0 ? number < end : number > end; number += step) {
    values.push_back(make_int32(number));
  }
  return Value::make_array(std::move(values));
}

Answer<Value> do_in(const Arguments& arguments) {
  const Value& array = arguments[1];
  if (!array.is_array()) {
    return refuse(40081, fmt::format("$in requires an array as a second argument, found: {}",
                                     type_name(array)));
  }
  if (auto spent = arguments.evaluation.spend(array.size()); !spent) {
    return pass(std::move(spent.error()));
  }
  for (const Value& element : array.elements()) {
    if (equals(arguments[0], element, arguments.evaluation.collation))
      return Value::make_bool(true);
  }
  return Value::make_bool(false);
}

Answer<Value> do_index_of_array(const Arguments& arguments) {
  const Value& array = arguments[0];
  if (is_nullish(array)) return Value::make_null();
  if (!array.is_array()) {
    return refuse(40090, fmt::format("$indexOfArray requires an array as a first argument, found: "
                                     "{}",
                                     type_name(array)));
  }
  std::array<int64_t, 2> bounds = {0, std::numeric_limits<int32_t>::max()};
  for (size_t i = 2; i < arguments.size(); ++i) {
    const auto bound = to_int32(arguments[i]);
    if (!bound) {
      return refuse(40096, fmt::format("$indexOfArray requires an integral index, found a value of "
                                       "type: {}, with value: {}",
                                       type_name(arguments[i]), shown(arguments[i])));
    }
    if (*bound < 0) {
      return refuse(40097,
                    fmt::format("$indexOfArray requires a nonnegative index, found: {}", *bound));
    }
    bounds[i - 2] = *bound;
  }
  int64_t at = 0;
  for (const Value& element : array.elements()) {
    if (at >= bounds[1]) break;
    if (at >= bounds[0] && equals(element, arguments[1], arguments.evaluation.collation)) {
      return make_int32(at);
    }
    ++at;
  }
  return make_int32(-1);
}

Answer<Value> do_object_to_array(const Arguments& arguments) {
  const Value& object = arguments[0];
  if (!object.is_object()) {
    return refuse(40390, fmt::format("$objectToArray requires a document input, found: {}",
                                     type_name(object)));
  }
  std::vector<Value> pairs;
  for (const auto& [name, member] : object.members()) {
    std::vector<Value::Field> pair;
    pair.push_back(field("k", Value::make_string(std::string(name))));
    pair.push_back(field("v", member));
    pairs.push_back(Value::make_object(std::move(pair)));
  }
  return make_elements(arguments, std::move(pairs));
}

// [k, v] or {k, v}.
Answer<Value::Field> pair_of(const Value& element, bool is_array) {
  Value name;
  Value value;
  if (is_array) {
    if (!element.is_array()) {
      return refuse(40396,
                    fmt::format("$arrayToObject requires a consistent input format. Elements "
                                "must all be arrays or all be objects. Array was detected, "
                                "now found: {}",
                                type_name(element)));
    }
    if (element.size() != 2) {
      return refuse(40397, fmt::format("$arrayToObject requires an array of size 2 arrays,found "
                                       "array of size: {}",
                                       element.size()));
    }
    name = element.at(0);
    value = element.at(1);
    if (!name.is_string()) {
      return refuse(40395, fmt::format("$arrayToObject requires an array of key-value pairs, where "
                                       "the key must be of type string. Found key type: {}",
                                       type_name(name)));
    }
  } else {
    if (!element.is_object()) {
      return refuse(40391,
                    fmt::format("$arrayToObject requires a consistent input format. Elements "
                                "must all be arrays or all be objects. Object was detected, "
                                "now found: {}",
                                type_name(element)));
    }
    if (element.size() != 2) {
      return refuse(40392, fmt::format("$arrayToObject requires an object keys of 'k' and 'v'. "
                                       "Found incorrect number of keys:{}",
                                       element.size()));
    }
    name = element.find("k");
    value = element.find("v");
    if (name.is_undefined() || value.is_undefined()) {
      return refuse(40393, "$arrayToObject requires an object with keys 'k' and 'v'.");
    }
    if (!name.is_string()) {
      return refuse(40394, fmt::format("$arrayToObject requires an object with keys 'k' and 'v', "
                                       "where the value of 'k' must be of type string. Found type: "
                                       "{}",
                                       type_name(name)));
    }
  }
  if (name.text().find('\0') != std::string_view::npos) {
    return refuse(4940400, "Key field cannot contain an embedded null byte");
  }
  return Value::Field{.name = name, .value = value};
}

Answer<Value> do_array_to_object(const Arguments& arguments) {
  const Value& array = arguments[0];
  if (!array.is_array()) {
    return refuse(
        40386, fmt::format("$arrayToObject requires an array input, found: {}", type_name(array)));
  }
  if (array.size() == 0) return Value::make_object({});
  const Value first = array.at(0);
  if (!first.is_array() && !first.is_object()) {
    return refuse(40398, fmt::format("Unrecognised input type format for $arrayToObject: {}",
                                     type_name(first)));
  }
  std::vector<Value::Field> fields;
  for (const Value& element : array.elements()) {
    auto pair = pair_of(element, first.is_array());
    if (!pair) return pass(std::move(pair.error()));
    fields.push_back(std::move(*pair));
  }
  return Value::make_object(std::move(fields));
}

constexpr std::array kArrayPositional = {
    PositionalOperator{"$arrayElemAt", 2, 2, do_array_elem_at, true},
    PositionalOperator{"$first", 1, 1, end_of<false>, true},
    PositionalOperator{"$last", 1, 1, end_of<true>, true},
    PositionalOperator{"$concatArrays", 0, kAnyNumber, do_concat_arrays},
    PositionalOperator{"$isArray", 1, 1, do_is_array},
    PositionalOperator{"$size", 1, 1, do_size},
    PositionalOperator{"$reverseArray", 1, 1, do_reverse, true},
    PositionalOperator{"$slice", 2, 3, do_slice},
    PositionalOperator{"$range", 2, 3, do_range},
    PositionalOperator{"$in", 2, 2, do_in},
    PositionalOperator{"$indexOfArray", 2, 4, do_index_of_array},
    PositionalOperator{"$objectToArray", 1, 1, do_object_to_array, true},
    PositionalOperator{"$arrayToObject", 1, 1, do_array_to_object, true},
};

}  // namespace

OperatorTables array_operators() {
  return {.positional = kArrayPositional};
}

}  // namespace orrery::mongo
