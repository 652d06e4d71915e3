// Accumulators as expressions over an array or over their arguments: $sum, $avg, $min, $max,
// $stdDevPop, $stdDevSamp, $firstN, $lastN, $minN, $maxN, $median, $percentile.
#include <algorithm>

#include <fmt/format.h>

#include "api/mongo/expression/accumulator.h"
#include "api/mongo/expression/operators.h"

namespace orrery::mongo {

Answer<int64_t> require_count(std::string_view name, const Value& given);
Answer<std::vector<double>> parse_percentiles(const Value& given);
Answer<void> check_percentile_method(std::string_view name, const Value& method);

namespace {

// A specification whose input is not used: values are added by hand.
Answer<AccumulatorSpec> spec_of(std::string_view name, Value argument) {
  std::vector<Value::Field> spec;
  spec.push_back(field(name, std::move(argument)));
  return AccumulatorSpec::parse(Value::make_object(std::move(spec)), {});
}

Answer<Value> accumulate(const AccumulatorSpec& spec, Evaluation& evaluation,
                         std::span<const Value> values) {
  // Making one evaluates its options, which are constants here: documents stay as they are.
  const Value root = evaluation.root;
  const Value current = evaluation.current;
  auto accumulator = spec.make(evaluation, {});
  evaluation.root = root;
  evaluation.current = current;
  if (!accumulator) return pass(std::move(accumulator.error()));
  for (const Value& value : values) {
    if (auto added = (*accumulator)->add(value, evaluation); !added) {
      return pass(std::move(added.error()));
    }
  }
  return (*accumulator)->result(evaluation);
}

// Of one argument that is an array its elements count, else the arguments.
Answer<Value> over_values(const Arguments& arguments) {
  auto spec = spec_of(arguments.name, Value::make_null());
  if (!spec) return pass(std::move(spec.error()));
  if (arguments.size() != 1 || !arguments[0].is_array()) {
    return accumulate(*spec, arguments.evaluation, arguments.values);
  }
  std::vector<Value> elements;
  for (const Value& element : arguments[0].elements()) elements.push_back(element);
  return accumulate(*spec, arguments.evaluation, elements);
}

Answer<Value> over_n(const Arguments& arguments) {
  auto count = require_count(arguments.name, arguments[1]);
  if (!count) return pass(std::move(count.error()));
  const Value& input = arguments[0];
  if (is_nullish(input)) return Value::make_null();
  if (!input.is_array()) {
    return refuse(5788200, fmt::format("Input of {} must be an array, but is {}", arguments.name,
                                       type_name(input)));
  }
  std::vector<Value::Field> members;
  members.push_back(field("input", Value::make_null()));
  members.push_back(field("n", make_int64(*count)));
  auto spec = spec_of(arguments.name, Value::make_object(std::move(members)));
  if (!spec) return pass(std::move(spec.error()));
  std::vector<Value> elements;
  for (const Value& element : input.elements()) elements.push_back(element);
  return accumulate(*spec, arguments.evaluation, elements);
}

template <bool kMedian>
Answer<Value> over_percentile(const Arguments& arguments) {
  if (auto checked = check_percentile_method(arguments.name, arguments[1]); !checked) {
    return pass(std::move(checked.error()));
  }
  std::vector<Value::Field> members;
  members.push_back(field("input", Value::make_null()));
  members.push_back(field("method", arguments[1]));
  if (!kMedian) {
    auto percentiles = parse_percentiles(arguments[2]);
    if (!percentiles) return pass(std::move(percentiles.error()));
    members.push_back(field("p", arguments[2]));
  }
  auto spec = spec_of(arguments.name, Value::make_object(std::move(members)));
  if (!spec) return pass(std::move(spec.error()));
  std::vector<Value> elements;
  if (arguments[0].is_array()) {
    for (const Value& element : arguments[0].elements()) elements.push_back(element);
  } else {
    elements.push_back(arguments[0]);
  }
  return accumulate(*spec, arguments.evaluation, elements);
}

constexpr std::array<Parameter, kMaxParameters> kSomeParameters = {Parameter{"input", 5787907},
                                                                   Parameter{"n", 5787906}};

constexpr std::array kSummariesPositional = {
    PositionalOperator{"$sum", 0, kAnyNumber, over_values},
    PositionalOperator{"$avg", 0, kAnyNumber, over_values},
    PositionalOperator{"$min", 0, kAnyNumber, over_values},
    PositionalOperator{"$max", 0, kAnyNumber, over_values},
    PositionalOperator{"$stdDevPop", 0, kAnyNumber, over_values},
    PositionalOperator{"$stdDevSamp", 0, kAnyNumber, over_values},
};

constexpr std::array kSummariesNamed = {
    NamedOperator{"$firstN", kSomeParameters, 5787901, 5787900, over_n},
    NamedOperator{"$lastN", kSomeParameters, 5787901, 5787900, over_n},
    NamedOperator{"$minN", kSomeParameters, 5787901, 5787900, over_n},
    NamedOperator{"$maxN", kSomeParameters, 5787901, 5787900, over_n},
    NamedOperator{"$median",
                  {Parameter{"input", 40414}, Parameter{"method", 40414}},
                  40415,
                  7436100,
                  over_percentile<true>},
    NamedOperator{"$percentile",
                  {Parameter{"input", 40414}, Parameter{"method", 40414}, Parameter{"p", 40414}},
                  40415,
                  7436200,
                  over_percentile<false>},
};

}  // namespace

OperatorTables summary_operators() {
  return {.positional = kSummariesPositional, .named = kSummariesNamed};
}

}  // namespace orrery::mongo
