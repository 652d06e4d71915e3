// Window functions of window.h: parsing, and those over windows of any kind.
#include <algorithm>

#include <fmt/format.h>

#include "api/mongo/expression/accumulator.h"
#include "api/mongo/pipeline/window.h"
#include "api/mongo/pipeline/window_kinds.h"

namespace orrery::mongo {
namespace {

// An accumulator over each document's window.
class AccumulatedFunction : public WindowFunction {
 public:
  AccumulatedFunction(AccumulatorSpec spec, Window window)
      : spec_(std::move(spec)), window_(std::move(window)) {}

  Answer<std::vector<Value>> evaluate(const Partition& partition, Run& run) const override {
    auto frames = frames_of(window_, partition, run);
    if (!frames) return pass(std::move(frames.error()));
    std::vector<Value> inputs;
    for (const Value& document : partition.documents) {
      auto input = spec_.input(run.evaluation, document);
      if (!input) return pass(std::move(input.error()));
      inputs.push_back(std::move(*input));
    }
    std::vector<Value> results;
    std::unique_ptr<Accumulator> accumulator;
    Frame done;
    for (size_t i = 0; i < frames->size(); ++i) {
      const Frame& frame = (*frames)[i];
      if (accumulator && frame == done) {
        results.push_back(results.back());
        continue;
      }
      // A window that only grows goes on where it was.
      if (!accumulator || frame.begin != done.begin || frame.end < done.end) {
        auto made = spec_.make(run.evaluation, partition.documents.front());
        if (!made) return pass(std::move(made.error()));
        accumulator = std::move(*made);
        done = {.begin = frame.begin, .end = frame.begin};
      }
      for (; done.end < frame.end; ++done.end) {
        if (run.evaluation.budget.spend(2)) return run.evaluation.over();
        if (auto added = accumulator->add(inputs[done.end], run.evaluation); !added) {
          return pass(std::move(added.error()));
        }
      }
      if (accumulator->memory() > run.memory_limit) {
        return refuse(kQueryExceededMemory, "a window function needs too much memory");
      }
      auto result = accumulator->result(run.evaluation);
      if (!result) return pass(std::move(result.error()));
      results.push_back(std::move(*result));
    }
    return results;
  }

 private:
  AccumulatorSpec spec_;
  Window window_;
};

enum class Rank : uint8_t { number, rank, dense };

class RankFunction : public WindowFunction {
 public:
  explicit RankFunction(Rank kind) : kind_(kind) {}
  Answer<std::vector<Value>> evaluate(const Partition& partition, Run& run) const override {
    std::vector<Value> ranks;
    int64_t rank = 0;
    for (size_t i = 0; i < partition.documents.size(); ++i) {
      const bool is_tie = i > 0 && equals(partition.positions[i], partition.positions[i - 1],
                                          run.evaluation.collation);
      const auto number = static_cast<int64_t>(i) + 1;
      if (kind_ == Rank::number) {
        rank = number;
      } else if (!is_tie) {
        rank = kind_ == Rank::dense ? rank + 1 : number;
      }
      ranks.push_back(make_integer(rank));
    }
    return ranks;
  }

 private:
  Rank kind_;
};

template <Rank kKind>
Answer<WindowFunctionPtr> parse_rank(const WindowCall& call) {
  if (auto checked = call.refuse_window(); !checked) return pass(std::move(checked.error()));
  if (!call.sort || call.sort->parts().size() != 1) {
    return refuse(5371602,
                  fmt::format("{} must be specified with a top level sortBy expression with "
                              "exactly one element",
                              call.name));
  }
  if (!call.argument.is_object() || call.argument.size() != 0) {
    return refuse(5371603, fmt::format("{} must be specified with '{{}}' as the value", call.name));
  }
  return std::make_shared<RankFunction>(kKind);
}

class ShiftFunction : public WindowFunction {
 public:
  ShiftFunction(Expression output, int64_t by, Value otherwise)
      : output_(std::move(output)), by_(by), otherwise_(std::move(otherwise)) {}
  Answer<std::vector<Value>> evaluate(const Partition& partition, Run& run) const override {
    auto values = values_of(output_, partition, run);
    if (!values) return values;
    const auto size = static_cast<int64_t>(values->size());
    std::vector<Value> shifted;
    for (int64_t i = 0; i < size; ++i) {
      const int64_t from = i + by_;
      Value value = from < 0 || from >= size ? otherwise_ : (*values)[static_cast<size_t>(from)];
      shifted.push_back(value.is_undefined() ? Value::make_null() : std::move(value));
    }
    return shifted;
  }

 private:
  Expression output_;
  int64_t by_;
  Value otherwise_;
};

Answer<WindowFunctionPtr> parse_shift(const WindowCall& call) {
  if (auto checked = call.refuse_window(); !checked) return pass(std::move(checked.error()));
  if (!call.sort) return refuse(kFailedToParse, "$shift requires a sortBy");
  if (auto known = call.check_members({"output", "by", "default"}); !known) {
    return pass(std::move(known.error()));
  }
  auto output = call.expression("output");
  if (!output) return pass(std::move(output.error()));
  const Value by = call.argument.find("by");
  const auto count = exact_integer(by);
  constexpr int64_t kMost = int64_t{1} << 31;
  if (!count || *count > kMost || *count < -kMost) {
    return refuse(kFailedToParse,
                  fmt::format("'$shift:by' field must be an integer, but found: {}", shown(by)));
  }
  Value otherwise = Value::make_null();
  if (const Value given = call.argument.find("default"); !given.is_undefined()) {
    auto parsed = Expression::parse(given, call.context);
    if (!parsed) return pass(std::move(parsed.error()));
    if (parsed->constant() == nullptr) {
      return refuse(kFailedToParse, "'$shift:default' expression must yield a constant value.");
    }
    otherwise = *parsed->constant();
  }
  return std::make_shared<ShiftFunction>(std::move(*output), *count, otherwise);
}

// The last value that was not null.
class CarryFunction : public WindowFunction {
 public:
  explicit CarryFunction(Expression input) : input_(std::move(input)) {}
  Answer<std::vector<Value>> evaluate(const Partition& partition, Run& run) const override {
    auto values = values_of(input_, partition, run);
    if (!values) return values;
    Value last = Value::make_null();
    for (Value& value : *values) {
      if (!is_nullish(value)) last = value;
      value = last;
    }
    return values;
  }

 private:
  Expression input_;
};

Answer<WindowFunctionPtr> parse_carry(const WindowCall& call) {
  if (auto checked = call.refuse_window(); !checked) return pass(std::move(checked.error()));
  auto input = Expression::parse(call.argument, call.context);
  if (!input) return pass(std::move(input.error()));
  return std::make_shared<CarryFunction>(std::move(*input));
}

constexpr std::array kFunctionKinds = {
    WindowKind{"$rank", parse_rank<Rank::rank>},
    WindowKind{"$denseRank", parse_rank<Rank::dense>},
    WindowKind{"$documentNumber", parse_rank<Rank::number>},
    WindowKind{"$shift", parse_shift},
    WindowKind{"$locf", parse_carry},
};

}  // namespace

Answer<void> WindowCall::refuse_window() const {
  if (window.is_undefined()) return {};
  return refuse(5371601, fmt::format("'window' field is not allowed in {}", name));
}

Answer<void> WindowCall::check_members(std::initializer_list<std::string_view> known) const {
  if (!argument.is_object()) {
    return refuse(kFailedToParse, fmt::format("Argument to {} must be an object", name));
  }
  for (const auto& [member, value] : argument.members()) {
    if (std::ranges::find(known, member) == known.end()) {
      return refuse(kFailedToParse, fmt::format("{} got unexpected argument: {}", name, member));
    }
  }
  return {};
}

Answer<Expression> WindowCall::expression(std::string_view member) const {
  const Value spec = argument.find(member);
  if (spec.is_undefined()) {
    return refuse(kFailedToParse, fmt::format("{} requires an '{}' expression", name, member));
  }
  return Expression::parse(spec, context);
}

Answer<WindowFunctionPtr> parse_window_function(const Value& spec,
                                                const std::optional<SortKey>& sort,
                                                const ParseContext& context) {
  if (!spec.is_object()) {
    return refuse(kFailedToParse,
                  fmt::format("a window function must be an object, not {}", type_name(spec)));
  }
  std::optional<Value::Member> found;
  for (const auto& member : spec.members()) {
    if (member.name == "window") continue;
    if (!member.name.starts_with('$') || found) {
      return refuse(kFailedToParse,
                    fmt::format("Window function found an unknown argument: {}", member.name));
    }
    found = member;
  }
  if (!found) return refuse(kFailedToParse, "Expected a $-prefixed window function");
  const WindowCall call = {.name = found->name,
                           .argument = found->value,
                           .window = spec.find("window"),
                           .sort = sort,
                           .context = context};
  for (const auto& kinds : {std::span<const WindowKind>(kFunctionKinds), window_calculus()}) {
    for (const WindowKind& kind : kinds) {
      if (kind.name == found->name) return kind.parse(call);
    }
  }
  if (!AccumulatorSpec::is_known(found->name)) {
    return refuse(kFailedToParse, fmt::format("Unrecognized window function, {}", found->name));
  }
  auto accumulator = AccumulatorSpec::parse(stage_spec(found->name, found->value), context);
  if (!accumulator) return pass(std::move(accumulator.error()));
  auto window = Window::parse(call.window, sort);
  if (!window) return pass(std::move(window.error()));
  return std::make_shared<AccumulatedFunction>(std::move(*accumulator), std::move(*window));
}

}  // namespace orrery::mongo
