// The operators on single values. See operators.h.
#include "api/mongo/update/operators.h"

#include <algorithm>
#include <array>
#include <functional>

#include <fmt/format.h>

#include "api/mongo/bson/numbers.h"
#include "api/mongo/bson/types.h"

namespace orrery::mongo {
namespace {

using Missing = Modifier::Missing;

Answer<Modifier> parse_set(std::string_view, const Value& operand, const MatchOptions&) {
  return Modifier{
      .apply = [operand](const Value&, UpdateState&) -> Answer<Value> { return operand; }};
}

Answer<Modifier> parse_set_on_insert(std::string_view, const Value& operand, const MatchOptions&) {
  return Modifier{
      .apply = [operand](const Value&, UpdateState&) -> Answer<Value> { return operand; },
      .only_on_insert = true};
}

Answer<Modifier> parse_unset(std::string_view, const Value&, const MatchOptions&) {
  return Modifier{.apply = [](const Value&, UpdateState&) -> Answer<Value> { return Value(); },
                  .missing = Missing::allow};
}

template <bool kIsProduct>
Answer<Modifier> parse_arithmetic(std::string_view path, const Value& operand,
                                  const MatchOptions&) {
  const std::string_view name = kIsProduct ? "$mul" : "$inc";
  if (!operand.is_number()) {
    return refuse(kTypeMismatch,
                  fmt::format("Cannot {} with non-numeric argument: {{{}: {}}}",
                              kIsProduct ? "multiply" : "increment", path, shown(operand)));
  }
  return Modifier{.apply = [operand, name, path = std::string(path)](
                               const Value& current, UpdateState&) -> Answer<Value> {
    if (current.is_undefined()) return kIsProduct ? multiply(operand, make_int32(0)) : operand;
    if (!current.is_number()) {
      return refuse(
          kTypeMismatch,
          fmt::format(
              "Cannot apply {} to a value of non-numeric type. The field '{}' is of type {}", name,
              path, type_name(current)));
    }
    Answer<Value> result =
        kIsProduct ? multiply_exact(current, operand) : add_exact(current, operand);
    if (!result) {
      return refuse(kBadValue, fmt::format("Failed to apply {} operations to current value ({}) at "
                                           "'{}': the result does not fit in 64 bits",
                                           name, shown(current), path));
    }
    return result;
  }};
}

template <bool kIsMaximum>
Answer<Modifier> parse_extreme(std::string_view, const Value& operand, const MatchOptions&) {
  return Modifier{.apply = [operand](const Value& current, UpdateState& state) -> Answer<Value> {
    if (current.is_undefined()) return operand;
    const std::strong_ordering order = compare(operand, current, state.collation);
    return (kIsMaximum ? order > 0 : order < 0) ? operand : current;
  }};
}

Answer<Modifier> parse_current_date(std::string_view path, const Value& operand,
                                    const MatchOptions&) {
  bool is_timestamp = false;
  if (operand.is_object()) {
    const Value type = operand.find("$type");
    if (operand.size() != 1 || !type.is_string() ||
        (type.text() != "date" && type.text() != "timestamp")) {
      return refuse(kBadValue,
                    "The '$type' string field is required to be 'date' or 'timestamp': "
                    "{$currentDate: {field : {$type: 'date'}}}");
    }
    is_timestamp = type.text() == "timestamp";
  } else if (!operand.is_bool()) {
    return refuse(
        kBadValue,
        fmt::format("{} is not valid type for $currentDate. Please use a boolean ('true') or a "
                    "$type expression ({{$type: 'timestamp/date'}}) at '{}'.",
                    type_name(operand), path));
  }
  return Modifier{.apply = [is_timestamp](const Value&, UpdateState& state) -> Answer<Value> {
    const Evaluation& evaluation = state.evaluation;
    if (evaluation.now.type() != value::Type::date) {
      return refuse(kInternalError, "$currentDate is applied without a time");
    }
    if (!is_timestamp) return evaluation.now;
    if (!evaluation.cluster_time.is_undefined()) return evaluation.cluster_time;
    return Value::make_timestamp(static_cast<uint64_t>(evaluation.now.date().ms / 1000) << 32 | 1);
  }};
}

// --- $bit

struct BitStep {
  std::string_view name;
  int64_t (*apply)(int64_t a, int64_t b);
};
constexpr std::array kBitSteps = {
    BitStep{"and", [](int64_t a, int64_t b) { return a & b; }},
    BitStep{"or", [](int64_t a, int64_t b) { return a | b; }},
    BitStep{"xor", [](int64_t a, int64_t b) { return a ^ b; }},
};

Answer<Modifier> parse_bit(std::string_view path, const Value& operand, const MatchOptions&) {
  if (!operand.is_object()) {
    return refuse(
        kBadValue,
        fmt::format("The $bit modifier is not compatible with a {}. You must pass in an embedded "
                    "document: {{$bit: {{field: {{and/or/xor: #}}}}",
                    type_name(operand)));
  }
  std::vector<std::pair<const BitStep*, Value>> steps;
  for (const auto& [name, number] : operand.members()) {
    const auto* const step = std::ranges::find(kBitSteps, name, &BitStep::name);
    if (step == kBitSteps.end()) {
      return refuse(
          kBadValue,
          fmt::format(
              "The $bit modifier only supports 'and', 'or', and 'xor', not '{}' which is an "
              "unknown operator: {{{}: {}}}",
              name, name, shown(number)));
    }
    if (!is_integer_kind(number)) {
      return refuse(kBadValue, fmt::format("The $bit modifier field must be an Integer(32/64 bit); "
                                           "a '{}' is not supported here: {{{}: {}}}",
                                           type_name(number), name, shown(number)));
    }
    steps.emplace_back(step, number);
  }
  if (steps.empty()) {
    return refuse(kBadValue, fmt::format("You must pass in at least one bitwise operation. The "
                                         "format is: {{$bit: {{field: {{and/or/xor: #}}}}, at '{}'",
                                         path));
  }
  return Modifier{.apply = [steps = std::move(steps), path = std::string(path)](
                               const Value& current, UpdateState&) -> Answer<Value> {
    Value value = current.is_undefined() ? make_int32(0) : current;
    if (!is_integer_kind(value)) {
      return refuse(
          kBadValue,
          fmt::format(
              "Cannot apply $bit to a value of non-integral type. The field '{}' is of type {}",
              path, type_name(current)));
    }
    for (const auto& [step, number] : steps) {
      value = Value::make_integer(step->apply(value.integer(), number.integer()),
                                  wider(value.number_kind(), number.number_kind()));
    }
    return value;
  }};
}

constexpr std::array kFieldOperators = {
    UpdateOperator{"$set", parse_set},
    UpdateOperator{"$setOnInsert", parse_set_on_insert},
    UpdateOperator{"$unset", parse_unset},
    UpdateOperator{"$inc", parse_arithmetic<false>},
    UpdateOperator{"$mul", parse_arithmetic<true>},
    UpdateOperator{"$min", parse_extreme<false>},
    UpdateOperator{"$max", parse_extreme<true>},
    UpdateOperator{"$currentDate", parse_current_date},
    UpdateOperator{"$bit", parse_bit},
};

}  // namespace

const UpdateOperator* find_update_operator(std::string_view name) {
  const auto* const found = std::ranges::find(kFieldOperators, name, &UpdateOperator::name);
  return found == kFieldOperators.end() ? find_array_operator(name) : found;
}

}  // namespace orrery::mongo
