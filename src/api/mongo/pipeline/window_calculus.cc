// Window functions that calculate with the values of sortBy, or with many values at once.
#include <cmath>

#include <fmt/format.h>

#include "api/mongo/pipeline/window_kinds.h"

namespace orrery::mongo {
namespace {

Value quotient(const Value& a, const Value& b) {
  auto result = divide(a, b);
  return result ? *result : Value::make_null();
}

Answer<std::optional<TimeUnit>> parse_unit(const WindowCall& call) {
  const Value unit = call.argument.find("unit");
  if (unit.is_undefined()) return std::nullopt;
  const auto found = unit.is_string() ? time_unit_of(unit.text()) : std::nullopt;
  if (!found) {
    return refuse(kFailedToParse, fmt::format("unknown time unit value: {}", shown(unit)));
  }
  if (!fixed_length(*found)) {
    return refuse(5490704, "unit must be 'week' or smaller");
  }
  return found;
}

// $derivative and $integral.
class AxisFunction : public WindowFunction {
 public:
  AxisFunction(bool is_derivative, Expression input, Window window, std::optional<TimeUnit> unit)
      : is_derivative_(is_derivative),
        input_(std::move(input)),
        window_(std::move(window)),
        unit_(unit) {}

  Answer<std::vector<Value>> evaluate(const Partition& partition, Run& run) const override {
    const std::string_view name = is_derivative_ ? "$derivative" : "$integral";
    auto frames = frames_of(window_, partition, run);
    if (!frames) return pass(std::move(frames.error()));
    auto values = values_of(input_, partition, run);
    if (!values) return values;
    std::vector<Value> places;
    for (const Value& position : partition.positions) {
      auto place = axis_value(name, position, unit_.has_value());
      if (!place) return pass(std::move(place.error()));
      places.push_back(std::move(*place));
    }
    std::vector<Value> results;
    for (const Frame& frame : *frames) {
      auto result = is_derivative_ ? slope(*values, places, frame)
                                   : area(*values, places, frame, run.evaluation);
      if (!result) return pass(std::move(result.error()));
      results.push_back(std::move(*result));
    }
    return results;
  }

 private:
  static Answer<void> check(std::string_view name, const Value& value) {
    if (value.is_number()) return {};
    return refuse(5624903,
                  fmt::format("{}: the input must be a number, but is {}", name, type_name(value)));
  }

  Answer<Value> slope(const std::vector<Value>& values, const std::vector<Value>& places,
                      const Frame& frame) const {
    if (frame.end - frame.begin < 2) return Value::make_null();
    const size_t last = frame.end - 1;
    for (const size_t at : {frame.begin, last}) {
      if (auto checked = check("$derivative", values[at]); !checked) {
        return pass(std::move(checked.error()));
      }
    }
    const Value rise = subtract(values[last], values[frame.begin]);
    const Value run_length = subtract(places[last], places[frame.begin]);
    Value result = quotient(rise, run_length);
    if (unit_ && result.is_number()) result = multiply(result, make_int64(*fixed_length(*unit_)));
    return result;
  }

  // By trapezoids.
  Answer<Value> area(const std::vector<Value>& values, const std::vector<Value>& places,
                     const Frame& frame, Evaluation& evaluation) const {
    if (frame.begin == frame.end) return Value::make_null();
    if (evaluation.budget.spend(2 * (frame.end - frame.begin))) return evaluation.over();
    for (size_t i = frame.begin; i < frame.end; ++i) {
      if (auto checked = check("$integral", values[i]); !checked) {
        return pass(std::move(checked.error()));
      }
    }
    Sum sum;
    sum.add(Value::make_number(0));
    for (size_t i = frame.begin + 1; i < frame.end; ++i) {
      const Value width = subtract(places[i], places[i - 1]);
      sum.add(quotient(multiply(add(values[i], values[i - 1]), width), make_int32(2)));
    }
    const Value total = sum.total();
    return unit_ ? quotient(total, make_int64(*fixed_length(*unit_))) : total;
  }

  bool is_derivative_;
  Expression input_;
  Window window_;
  std::optional<TimeUnit> unit_;
};

template <bool kDerivative>
Answer<WindowFunctionPtr> parse_axis(const WindowCall& call) {
  if (auto known = call.check_members({"input", "unit"}); !known)
    return pass(std::move(known.error()));
  if (!call.sort || call.sort->parts().size() != 1) {
    return refuse(kFailedToParse, fmt::format("{} requires a sortBy of one field", call.name));
  }
  if (kDerivative && call.window.is_undefined()) {
    return refuse(kFailedToParse, "$derivative requires explicit window bounds");
  }
  auto input = call.expression("input");
  if (!input) return pass(std::move(input.error()));
  auto unit = parse_unit(call);
  if (!unit) return pass(std::move(unit.error()));
  auto window = Window::parse(call.window, call.sort);
  if (!window) return pass(std::move(window.error()));
  return std::make_shared<AxisFunction>(kDerivative, std::move(*input), std::move(*window), *unit);
}

class MovingAverageFunction : public WindowFunction {
 public:
  MovingAverageFunction(Expression input, Value alpha)
      : input_(std::move(input)), alpha_(std::move(alpha)) {}
  Answer<std::vector<Value>> evaluate(const Partition& partition, Run& run) const override {
    auto values = values_of(input_, partition, run);
    if (!values) return values;
    const Value rest = subtract(make_int32(1), alpha_);
    Value average;
    for (Value& value : *values) {
      if (!value.is_number()) {
        value = Value::make_null();
        continue;
      }
      average =
          average.is_undefined() ? value : add(multiply(value, alpha_), multiply(average, rest));
      value = average;
    }
    return values;
  }

 private:
  Expression input_;
  Value alpha_;
};

Answer<WindowFunctionPtr> parse_moving_average(const WindowCall& call) {
  if (auto checked = call.refuse_window(); !checked) return pass(std::move(checked.error()));
  if (auto known = call.check_members({"input", "N", "alpha"}); !known) {
    return pass(std::move(known.error()));
  }
  if (!call.sort) return refuse(kFailedToParse, "$expMovingAvg requires an explicit 'sortBy'");
  auto input = call.expression("input");
  if (!input) return pass(std::move(input.error()));
  const Value count = call.argument.find("N");
  Value alpha = call.argument.find("alpha");
  if (count.is_undefined() == alpha.is_undefined()) {
    return refuse(kFailedToParse,
                  "$expMovingAvg sub object must have exactly two fields: An 'input' "
                  "field, and either an 'N' field or an 'alpha' field");
  }
  if (!count.is_undefined()) {
    const auto number = exact_integer(count);
    if (!number || *number <= 0) {
      return refuse(kFailedToParse,
                    fmt::format("'N' field must be an integer greater than zero, but "
                                "found {}",
                                shown(count)));
    }
    alpha = quotient(make_decimal(decimal_of(int64_t{2})), make_int64(*number + 1));
  } else if (!alpha.is_number() || !(alpha.number() > 0) || !(alpha.number() < 1)) {
    return refuse(kFailedToParse, fmt::format("'alpha' must be between 0 and 1 (exclusive), found "
                                              "alpha: {}",
                                              shown(alpha)));
  }
  // Doubles stay doubles: only decimals are averaged as such.
  alpha = Value::make_number(alpha.number());
  return std::make_shared<MovingAverageFunction>(std::move(*input), alpha);
}

template <bool kSample>
class CovarianceFunction : public WindowFunction {
 public:
  CovarianceFunction(Expression pair, Window window)
      : pair_(std::move(pair)), window_(std::move(window)) {}
  Answer<std::vector<Value>> evaluate(const Partition& partition, Run& run) const override {
    auto frames = frames_of(window_, partition, run);
    if (!frames) return pass(std::move(frames.error()));
    auto pairs = values_of(pair_, partition, run);
    if (!pairs) return pairs;
    std::vector<Value> results;
    for (const Frame& frame : *frames) {
      if (run.evaluation.budget.spend(2 * (frame.end - frame.begin))) return run.evaluation.over();
      results.push_back(covariance(*pairs, frame));
    }
    return results;
  }

 private:
  static Value covariance(const std::vector<Value>& pairs, const Frame& frame) {
    Sum xs;
    Sum ys;
    int64_t count = 0;
    const auto each = [&](auto&& use) {
      for (size_t i = frame.begin; i < frame.end; ++i) {
        const Value x = pairs[i].at(0);
        const Value y = pairs[i].at(1);
        if (pairs[i].size() == 2 && x.is_number() && y.is_number()) use(x, y);
      }
    };
    each([&](const Value& x, const Value& y) {
      xs.add(x);
      ys.add(y);
      ++count;
    });
    const int64_t divisor = kSample ? count - 1 : count;
    if (divisor <= 0) return Value::make_null();
    const Value x_mean = xs.mean(count);
    const Value y_mean = ys.mean(count);
    Sum products;
    each([&](const Value& x, const Value& y) {
      products.add(multiply(subtract(x, x_mean), subtract(y, y_mean)));
    });
    return products.mean(divisor);
  }

  Expression pair_;
  Window window_;
};

template <bool kSample>
Answer<WindowFunctionPtr> parse_covariance(const WindowCall& call) {
  auto pair = Expression::parse(call.argument, call.context);
  if (!pair) return pass(std::move(pair.error()));
  auto window = Window::parse(call.window, call.sort);
  if (!window) return pass(std::move(window.error()));
  return std::make_shared<CovarianceFunction<kSample>>(std::move(*pair), std::move(*window));
}

// What is null lies on the line between its neighbours that are not.
class LinearFillFunction : public WindowFunction {
 public:
  explicit LinearFillFunction(Expression input) : input_(std::move(input)) {}
  Answer<std::vector<Value>> evaluate(const Partition& partition, Run& run) const override {
    auto values = values_of(input_, partition, run);
    if (!values) return values;
    std::vector<Value> places;
    for (size_t i = 0; i < values->size(); ++i) {
      const Value& position = partition.positions[i];
      auto place = axis_value("$linearFill", position, position.type() == Type::date);
      if (!place) return pass(std::move(place.error()));
      if (i > 0 && position.type() != partition.positions[i - 1].type()) {
        return refuse(6050107, "$linearFill: the sortBy field must be numbers or dates, not both");
      }
      if (i > 0 && equals(*place, places.back(), nullptr)) {
        return refuse(6050106, "$linearFill: there can be no repeated values in the sort field");
      }
      places.push_back(std::move(*place));
      if (!is_nullish((*values)[i]) && !(*values)[i].is_number()) {
        return refuse(kTypeMismatch,
                      fmt::format("$linearFill: the value must be numeric or null, but "
                                  "is {}",
                                  type_name((*values)[i])));
      }
    }
    std::optional<size_t> left;
    for (size_t i = 0; i < values->size(); ++i) {
      if (is_nullish((*values)[i])) {
        (*values)[i] = Value::make_null();
        continue;
      }
      if (left && i - *left > 1) fill(*values, places, *left, i);
      left = i;
    }
    return values;
  }

 private:
  static void fill(std::vector<Value>& values, const std::vector<Value>& places, size_t left,
                   size_t right) {
    const Value slope =
        quotient(subtract(values[right], values[left]), subtract(places[right], places[left]));
    for (size_t i = left + 1; i < right; ++i) {
      values[i] = add(values[left], multiply(slope, subtract(places[i], places[left])));
    }
  }

  Expression input_;
};

Answer<WindowFunctionPtr> parse_linear_fill(const WindowCall& call) {
  if (auto checked = call.refuse_window(); !checked) return pass(std::move(checked.error()));
  if (!call.sort || call.sort->parts().size() != 1) {
    return refuse(605001,
                  "$linearFill must be specified with a top level sortBy expression with "
                  "exactly one element");
  }
  auto input = Expression::parse(call.argument, call.context);
  if (!input) return pass(std::move(input.error()));
  return std::make_shared<LinearFillFunction>(std::move(*input));
}

constexpr std::array kCalculusKinds = {
    WindowKind{"$derivative", parse_axis<true>},
    WindowKind{"$integral", parse_axis<false>},
    WindowKind{"$expMovingAvg", parse_moving_average},
    WindowKind{"$covariancePop", parse_covariance<false>},
    WindowKind{"$covarianceSamp", parse_covariance<true>},
    WindowKind{"$linearFill", parse_linear_fill},
};

}  // namespace

std::span<const WindowKind> window_calculus() {
  return kCalculusKinds;
}

}  // namespace orrery::mongo
