// See accumulator.h.
#include "api/mongo/expression/accumulator.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include <fmt/format.h>

#include "api/mongo/expression/accumulators_numeric.h"
#include "api/mongo/expression/accumulators_some.h"
#include "api/mongo/expression/operators.h"

namespace orrery::mongo {

Answer<void> Accumulator::merge(const Accumulator&, Evaluation&) {
  return refuse(kInternalError, "an accumulator of this kind cannot be merged");
}

template <bool kSample>
Answer<Value> DeviationAccumulator<kSample>::result(Evaluation&) const {
  const int64_t divisor = kSample ? count_ - 1 : count_;
  if (divisor <= 0) return Value::make_null();
  return Value::make_number(std::sqrt(squares_ / static_cast<double>(divisor)));
}
template class DeviationAccumulator<true>;
template class DeviationAccumulator<false>;

Value percentile_of(const std::vector<double>& sorted, double percentile) {
  if (sorted.empty()) return Value::make_null();
  const double rank = std::ceil(static_cast<double>(sorted.size()) * percentile);
  const size_t at = rank < 1 ? 0 : static_cast<size_t>(rank) - 1;
  return Value::make_number(sorted[std::min(at, sorted.size() - 1)]);
}

Answer<void> PercentileAccumulator::add(const Value& value, Evaluation&) {
  if (value.is_number() && !is_nan(value)) numbers_.push_back(value.number());
  return {};
}

Answer<void> PercentileAccumulator::merge(const Accumulator& later, Evaluation&) {
  const auto& more = static_cast<const PercentileAccumulator&>(later).numbers_;
  numbers_.insert(numbers_.end(), more.begin(), more.end());
  return {};
}

Answer<Value> PercentileAccumulator::result(Evaluation&) const {
  std::vector<double> sorted = numbers_;
  std::ranges::sort(sorted);
  if (is_median_) return percentile_of(sorted, 0.5);
  std::vector<Value> values;
  for (const double percentile : percentiles_) values.push_back(percentile_of(sorted, percentile));
  return Value::make_array(std::move(values));
}

namespace {

template <bool kLast>
class EndAccumulator : public Accumulator {
 public:
  Answer<void> add(const Value& value, Evaluation&) override {
    if (!kLast && has_) return {};
    value_ = value.is_undefined() ? Value::make_null() : value.to_owned();
    has_ = true;
    return {};
  }
  Answer<void> merge(const Accumulator& later, Evaluation& evaluation) override {
    const auto& other = static_cast<const EndAccumulator&>(later);
    return other.has_ ? add(other.value_, evaluation) : Answer<void>();
  }
  Answer<Value> result(Evaluation&) const override { return has_ ? value_ : Value::make_null(); }
  size_t memory() const override { return 64 + value_.memory(); }

 private:
  Value value_;
  bool has_ = false;
};

template <bool kMax>
class ExtremeAccumulator : public Accumulator {
 public:
  Answer<void> add(const Value& value, Evaluation& evaluation) override {
    if (is_nullish(value)) return {};
    if (!value_.is_undefined()) {
      const auto order = compare(value, value_, evaluation.collation);
      if (kMax ? order <= 0 : order >= 0) return {};
    }
    value_ = value.to_owned();
    return {};
  }
  Answer<void> merge(const Accumulator& later, Evaluation& evaluation) override {
    return add(static_cast<const ExtremeAccumulator&>(later).value_, evaluation);
  }
  Answer<Value> result(Evaluation&) const override {
    return value_.is_undefined() ? Value::make_null() : value_;
  }
  size_t memory() const override { return 64 + value_.memory(); }

 private:
  Value value_;
};

class PushAccumulator : public Accumulator {
 public:
  Answer<void> add(const Value& value, Evaluation& evaluation) override {
    if (value.is_undefined()) return {};
    if (evaluation.budget.spend_bytes(sizeof(Value))) return evaluation.over();
    memory_ += value.memory();
    values_.push_back(value.to_owned());
    return {};
  }
  Answer<void> merge(const Accumulator& later, Evaluation& evaluation) override {
    return add_each(static_cast<const PushAccumulator&>(later).values_, *this, evaluation);
  }
  Answer<Value> result(Evaluation&) const override { return Value::make_array(values_); }
  size_t memory() const override { return memory_; }

 private:
  std::vector<Value> values_;
  size_t memory_ = 64;
};

class SetAccumulator : public Accumulator {
 public:
  Answer<void> add(const Value& value, Evaluation& evaluation) override {
    if (value.is_undefined()) return {};
    if (!seen_) {
      seen_.emplace(8, ValueHash{evaluation.collation}, ValueEqual{evaluation.collation});
    }
    if (seen_->contains(value)) return {};
    Value owned = value.to_owned();
    memory_ += 2 * owned.memory();
    seen_->insert(owned);
    values_.push_back(std::move(owned));
    return {};
  }
  Answer<void> merge(const Accumulator& later, Evaluation& evaluation) override {
    return add_each(static_cast<const SetAccumulator&>(later).values_, *this, evaluation);
  }
  Answer<Value> result(Evaluation&) const override { return Value::make_array(values_); }
  size_t memory() const override { return memory_; }

 private:
  std::optional<std::unordered_set<Value, ValueHash, ValueEqual>> seen_;
  std::vector<Value> values_;  // in the order in which they came
  size_t memory_ = 64;
};

class MergeAccumulator : public Accumulator {
 public:
  Answer<void> add(const Value& value, Evaluation&) override {
    if (is_nullish(value)) return {};
    if (!value.is_object()) {
      return refuse(40400, fmt::format("$mergeObjects requires object inputs, but input {} is of "
                                       "type {}",
                                       shown(value), type_name(value)));
    }
    std::vector<Value::Field> fields;
    for (const auto& [name, member] : merged_.members()) fields.push_back(field(name, member));
    for (const auto& [name, member] : value.members())
      fields.push_back(field(name, member.to_owned()));
    merged_ = Value::make_object(std::move(fields));
    return {};
  }
  Answer<void> merge(const Accumulator& later, Evaluation& evaluation) override {
    return add(static_cast<const MergeAccumulator&>(later).merged_, evaluation);
  }
  Answer<Value> result(Evaluation&) const override { return merged_; }
  size_t memory() const override { return 64 + merged_.memory(); }

 private:
  Value merged_ = Value::make_object({});
};

class CountAccumulator : public Accumulator {
 public:
  Answer<void> add(const Value&, Evaluation&) override {
    ++count_;
    return {};
  }
  Answer<void> merge(const Accumulator& later, Evaluation&) override {
    count_ += static_cast<const CountAccumulator&>(later).count_;
    return {};
  }
  Answer<Value> result(Evaluation&) const override { return make_integer(count_); }

 private:
  int64_t count_ = 0;
};

using Options = AccumulatorSpec::Options;

template <class Kind>
std::unique_ptr<Accumulator> make_plain(const Options&) {
  return std::make_unique<Kind>();
}
template <Keep kKeep>
std::unique_ptr<Accumulator> make_some(const Options& options) {
  return std::make_unique<SomeAccumulator<kKeep>>(options.count);
}
template <bool kTop, bool kMany>
std::unique_ptr<Accumulator> make_ordered(const Options& options) {
  return std::make_unique<OrderedAccumulator<kTop, kMany>>(*options.order, options.count);
}
template <bool kMedian>
std::unique_ptr<Accumulator> make_percentile(const Options& options) {
  return std::make_unique<PercentileAccumulator>(options.percentiles, kMedian);
}

enum class Form : uint8_t { plain, some, ordered, ordered_many, percentile, median, count };

struct Known {
  std::string_view name;
  Form form;
  std::unique_ptr<Accumulator> (*make)(const Options&);
  bool merges = true;
};

constexpr std::array kKnown = {
    Known{"$sum", Form::plain, make_plain<SumAccumulator>},
    Known{"$avg", Form::plain, make_plain<AverageAccumulator>},
    Known{"$first", Form::plain, make_plain<EndAccumulator<false>>},
    Known{"$last", Form::plain, make_plain<EndAccumulator<true>>},
    Known{"$min", Form::plain, make_plain<ExtremeAccumulator<false>>},
    Known{"$max", Form::plain, make_plain<ExtremeAccumulator<true>>},
    Known{"$push", Form::plain, make_plain<PushAccumulator>},
    Known{"$addToSet", Form::plain, make_plain<SetAccumulator>},
    Known{"$stdDevPop", Form::plain, make_plain<DeviationAccumulator<false>>, false},
    Known{"$stdDevSamp", Form::plain, make_plain<DeviationAccumulator<true>>, false},
    Known{"$mergeObjects", Form::plain, make_plain<MergeAccumulator>},
    Known{"$count", Form::count, make_plain<CountAccumulator>},
    Known{"$firstN", Form::some, make_some<Keep::first>},
    Known{"$lastN", Form::some, make_some<Keep::last>},
    Known{"$minN", Form::some, make_some<Keep::least>},
    Known{"$maxN", Form::some, make_some<Keep::most>},
    Known{"$top", Form::ordered, make_ordered<true, false>},
    Known{"$bottom", Form::ordered, make_ordered<false, false>},
    Known{"$topN", Form::ordered_many, make_ordered<true, true>},
    Known{"$bottomN", Form::ordered_many, make_ordered<false, true>},
    Known{"$median", Form::median, make_percentile<true>},
    Known{"$percentile", Form::percentile, make_percentile<false>},
};

}  // namespace

Answer<std::vector<double>> parse_percentiles(const Value& given) {
  if (!given.is_array() || given.size() == 0) {
    return refuse(7750301, fmt::format("The $percentile 'p' field must be an array of numbers from "
                                       "[0.0, 1.0], but found: {}",
                                       shown(given)));
  }
  std::vector<double> percentiles;
  for (const Value& one : given.elements()) {
    if (!one.is_number() || is_nan(one) || one.number() < 0 || one.number() > 1) {
      return refuse(7750303, fmt::format("The $percentile 'p' field must be an array of numbers "
                                         "from [0.0, 1.0], but found: {}",
                                         shown(one)));
    }
    percentiles.push_back(one.number());
  }
  return percentiles;
}

Answer<void> check_percentile_method(std::string_view name, const Value& method) {
  if (method.is_string() && method.text() == "approximate") return {};
  return refuse(kBadValue,
                fmt::format("Currently only 'approximate' can be used as {} 'method'", name));
}

Answer<int64_t> require_count(std::string_view name, const Value& given) {
  const auto count = exact_integer(given);
  if (!given.is_number() || !count) {
    return refuse(5787902, fmt::format("Value for 'n' of {} must be of integral type, but found {}",
                                       name, shown(given)));
  }
  if (*count <= 0) {
    return refuse(5787908, fmt::format("'n' of {} must be greater than 0, found {}", name, *count));
  }
  return *count;
}

bool AccumulatorSpec::is_known(std::string_view name) {
  return std::ranges::find(kKnown, name, &Known::name) != kKnown.end();
}

class AccumulatorParser {
 public:
  AccumulatorParser(const Known& known, const Value& spec, const ParseContext& context)
      : known_(known), spec_(spec), context_(context) {}

  Answer<AccumulatorSpec> parse() {
    made_.name_ = known_.name;
    made_.make_ = known_.make;
    made_.merges_ = known_.merges;
    if (auto taken = take(); !taken) return pass(std::move(taken.error()));
    return std::move(made_);
  }

 private:
  Answer<void> take() {
    switch (known_.form) {
      case Form::plain:
        // An array is an array of expressions, also with one element.
        return take_input(spec_);
      case Form::count:
        if (!spec_.is_object() || spec_.size() != 0) {
          return refuse(kTypeMismatch, "$count takes no arguments, i.e. $count:{}");
        }
        return take_input(make_int32(1));
      case Form::some:
        return take_some();
      case Form::ordered:
      case Form::ordered_many:
        return take_ordered();
      case Form::percentile:
      case Form::median:
        return take_percentiles();
    }
    return {};
  }

  // {input, n}
  Answer<void> take_some() {
    if (auto taken = take_members(std::array<std::string_view, 2>{"input", "n"}); !taken) {
      return taken;
    }
    if (auto taken = take_n(); !taken) return taken;
    return take_input(spec_.find("input"));
  }

  // {sortBy, output}, and n where there are many.
  Answer<void> take_ordered() {
    constexpr std::array<std::string_view, 3> kNames = {"sortBy", "output", "n"};
    const bool has_n = known_.form == Form::ordered_many;
    if (auto taken = take_members(std::span(kNames).first(has_n ? 3 : 2)); !taken) return taken;
    if (has_n) {
      if (auto taken = take_n(); !taken) return taken;
    }
    if (auto taken = take_input(spec_.find("output")); !taken) return taken;
    auto order = SortKey::parse(spec_.find("sortBy"));
    if (!order) return pass(std::move(order.error()));
    made_.options_.order = *order;
    made_.input_ =
        Expression(std::make_shared<OrderedInputNode>(std::move(*order), made_.input_.node()));
    return {};
  }

  // {input, method}, and p where it is not the median.
  Answer<void> take_percentiles() {
    constexpr std::array<std::string_view, 3> kNames = {"input", "method", "p"};
    const bool has_p = known_.form == Form::percentile;
    if (auto taken = take_members(std::span(kNames).first(has_p ? 3 : 2)); !taken) return taken;
    if (auto taken = check_percentile_method(known_.name, spec_.find("method")); !taken) {
      return taken;
    }
    if (auto taken = take_input(spec_.find("input")); !taken) return taken;
    if (!has_p) return {};
    auto expression = Expression::parse(spec_.find("p"), context_);
    if (!expression) return pass(std::move(expression.error()));
    made_.options_.n = *expression;
    if (const Value* const constant = expression->constant()) {
      auto percentiles = parse_percentiles(*constant);
      if (!percentiles) return pass(std::move(percentiles.error()));
    }
    return {};
  }

  // All of these must be there, and nothing else.
  Answer<void> take_members(std::span<const std::string_view> names) const {
    auto members = NamedSpec::take(known_.name, spec_, names, 5787901, 5787900);
    if (!members) return pass(std::move(members.error()));
    for (const std::string_view name : names) {
      if (members->has(name)) continue;
      return refuse(5787906, fmt::format("Missing value for '{}' of {}", name, known_.name));
    }
    return {};
  }

  Answer<void> take_input(const Value& input) {
    auto expression = Expression::parse(input, context_);
    if (!expression) return pass(std::move(expression.error()));
    made_.input_ = std::move(*expression);
    return {};
  }

  Answer<void> take_n() {
    auto expression = Expression::parse(spec_.find("n"), context_);
    if (!expression) return pass(std::move(expression.error()));
    if (const Value* const constant = expression->constant()) {
      if (auto count = require_count(known_.name, *constant); !count) {
        return pass(std::move(count.error()));
      }
    }
    made_.options_.n = std::move(*expression);
    return {};
  }

  const Known& known_;
  const Value& spec_;
  const ParseContext& context_;
  AccumulatorSpec made_;
};

Answer<AccumulatorSpec> AccumulatorSpec::parse(const Value& spec, const ParseContext& context) {
  if (!is_operator(spec)) {
    return refuse(40234, fmt::format("The field must be an accumulator object: {}", shown(spec)));
  }
  if (spec.size() != 1) {
    return refuse(40238, fmt::format("The field must specify one accumulator: {}", shown(spec)));
  }
  const Value::Member call = *spec.members().begin();
  const auto* const known = std::ranges::find(kKnown, call.name, &Known::name);
  if (call.name == "$accumulator" || call.name == "$function") {
    return refuse(kNotImplemented, fmt::format("{} is not supported", call.name));
  }
  if (known == kKnown.end()) {
    return refuse(15952, fmt::format("unknown group operator '{}'", call.name));
  }
  return AccumulatorParser(*known, call.value, context).parse();
}

Answer<std::unique_ptr<Accumulator>> AccumulatorSpec::make(Evaluation& evaluation,
                                                           const Value& group) const {
  if (!options_.n) return make_(options_);
  auto given = options_.n->evaluate(evaluation, group);
  if (!given) return pass(std::move(given.error()));
  Options options = {.order = options_.order};
  if (name_ == "$percentile") {
    auto percentiles = parse_percentiles(*given);
    if (!percentiles) return pass(std::move(percentiles.error()));
    options.percentiles = std::move(*percentiles);
  } else {
    auto count = require_count(name_, *given);
    if (!count) return pass(std::move(count.error()));
    options.count = *count;
  }
  return make_(options);
}

}  // namespace orrery::mongo
