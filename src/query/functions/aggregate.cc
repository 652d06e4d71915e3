// See aggregate.h.
#include "query/functions/aggregate.h"

#include <array>
#include <cmath>
#include <string>

namespace orrery::query {

namespace {

constexpr std::array<std::string_view, 8> kNames = {"COUNT", "COUNTIF", "SUM",      "AVG",
                                                    "MIN",   "MAX",     "MAKELIST", "MAKESET"};

Value name(std::string_view text) {
  return Value::borrow_string(text);
}

}  // namespace

std::optional<Aggregate> find_aggregate(std::string_view name) {
  std::string upper(name);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == upper) return static_cast<Aggregate>(i);
  }
  return std::nullopt;
}

std::string_view name_of(Aggregate aggregate) {
  return kNames[static_cast<size_t>(aggregate)];
}

void Accumulator::Sum::add(double number) {
  const double added = sum + number;
  if (std::isfinite(added)) {
    error += std::abs(sum) >= std::abs(number) ? (sum - added) + number : (number - added) + sum;
  }
  sum = added;
}

// As if the number were added one by one: what rounding takes from the product is added too.
void Accumulator::add_product(double number, double times) {
  const double product = number * times;
  sum_.add(product);
  if (times > 1 && std::isfinite(product)) sum_.error += std::fma(number, times, -product);
}

void Accumulator::end_part() {
  parts_.add(sum_);
  sum_ = {};
}

Accumulator::Sum Accumulator::total() const {
  Sum all = parts_;
  all.add(sum_);
  return all;
}

void Accumulator::add_to_list(const Value& value) {
  if (aggregate_ == Aggregate::make_set && !seen_.insert(value).second) return;
  list_.push_back(value);
  memory_ += value.memory();
}

void Accumulator::add(const Value& value, uint64_t times) {
  if (value.is_undefined()) return;
  switch (aggregate_) {
    case Aggregate::count:
      count_ += times;
      return;
    case Aggregate::count_if:
      if (value.is_true()) count_ += times;
      return;
    case Aggregate::sum:
    case Aggregate::average:
      if (!value.is_number()) {
        is_undefined_ = true;
        return;
      }
      count_ += times;
      add_product(value.number(), static_cast<double>(times));
      return;
    case Aggregate::min:
    case Aggregate::max:
      if (value.is_array() || value.is_object()) {
        is_undefined_ = true;
        return;
      }
      if (best_.is_undefined() || (aggregate_ == Aggregate::min ? value < best_ : value > best_)) {
        best_ = value;
        memory_ = value.memory();
      }
      return;
    case Aggregate::make_list:
    case Aggregate::make_set:
      for (uint64_t i = 0; i < times; ++i) add_to_list(value);
      return;
  }
}

void Accumulator::merge(const Accumulator& other) {
  is_undefined_ = is_undefined_ || other.is_undefined_;
  count_ += other.count_;
  end_part();
  parts_.add(other.total());
  if (!other.best_.is_undefined()) add(other.best_);
  for (const Value& value : other.list_) add_to_list(value);
}

Value Accumulator::result() const {
  if (is_undefined_) return {};
  switch (aggregate_) {
    case Aggregate::count:
    case Aggregate::count_if:
      return Value::make_number(static_cast<double>(count_));
    case Aggregate::sum:
      return Value::make_number(total().sum + total().error);
    case Aggregate::average:
      if (count_ == 0) return {};
      return Value::make_number((total().sum + total().error) / static_cast<double>(count_));
    case Aggregate::min:
    case Aggregate::max:
      return best_;
    case Aggregate::make_list:
    case Aggregate::make_set:
      return Value::make_array(list_);
  }
  return {};
}

Value Accumulator::state() const {
  if (is_undefined_) return Value::make_object({{name("undefined"), Value::make_bool(true)}});
  switch (aggregate_) {
    case Aggregate::count:
    case Aggregate::count_if:
      return Value::make_object({{name("count"), result()}});
    case Aggregate::sum:
    case Aggregate::average:
      return Value::make_object({{name("count"), Value::make_number(static_cast<double>(count_))},
                                 {name("sum"), Value::make_number(total().sum)},
                                 {name("error"), Value::make_number(total().error)}});
    case Aggregate::min:
    case Aggregate::max:
      return Value::make_object({{name("best"), best_}});
    case Aggregate::make_list:
    case Aggregate::make_set:
      return Value::make_object({{name("list"), result()}});
  }
  return {};
}

Result<Accumulator> Accumulator::from_state(Aggregate aggregate, const Value& state) {
  const auto invalid = [&] {
    return fail(Code::invalid, "The state of the aggregate " + std::string(name_of(aggregate)) +
                                   " cannot be read: " + state.to_json().substr(0, 100));
  };
  if (!state.is_object()) return invalid();
  Accumulator accumulator(aggregate);
  if (state.find("undefined").is_true()) {
    accumulator.is_undefined_ = true;
    return accumulator;
  }
  const Value count = state.find("count");
  const Value sum = state.find("sum");
  const Value error = state.find("error");
  if (count.is_number()) {
    if (!(count.number() >= 0 && count.number() <= 9007199254740992.0)) return invalid();
    accumulator.count_ = static_cast<uint64_t>(count.number());
  }
  switch (aggregate) {
    case Aggregate::count:
    case Aggregate::count_if:
      if (!count.is_number()) return invalid();
      break;
    case Aggregate::sum:
    case Aggregate::average:
      // JSON has null for a sum that is not finite.
      if (!count.is_number() || sum.is_undefined() || error.is_undefined()) return invalid();
      accumulator.parts_ = {.sum = sum.is_number() ? sum.number() : std::nan(""),
                            .error = error.is_number() ? error.number() : 0};
      break;
    case Aggregate::min:
    case Aggregate::max:
      accumulator.add(state.find("best"));
      break;
    case Aggregate::make_list:
    case Aggregate::make_set: {
      const Value list = state.find("list");
      if (!list.is_array()) return invalid();
      for (const Value& value : list.elements()) accumulator.add_to_list(value);
      break;
    }
  }
  return accumulator;
}

}  // namespace orrery::query
