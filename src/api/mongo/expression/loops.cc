// Operators that evaluate an expression for each element of an array: $filter, $map, $reduce, and
// $zip and $sortArray.
#include <algorithm>

#include <fmt/format.h>

#include "api/mongo/bson/stable_order.h"
#include "api/mongo/expression/operators.h"
#include "api/mongo/expression/sort_key.h"

namespace orrery::mongo {
namespace {

void set_variable(Evaluation& evaluation, size_t slot, const Value& value) {
  if (evaluation.variables.size() <= slot) evaluation.variables.resize(slot + 1);
  evaluation.variables[slot] = value;
}

// $map and $filter: `body` for each element, as a variable.
class EachNode : public ExpressionNode {
 public:
  EachNode(Node input, Node body, Node limit, size_t slot, bool is_filter)
      : input_(std::move(input)),
        body_(std::move(body)),
        limit_(std::move(limit)),
        slot_(slot),
        is_filter_(is_filter) {}

  Answer<Value> evaluate(Evaluation& evaluation) const override {
    auto input = input_->evaluate(evaluation);
    if (!input) return input;
    if (is_nullish(*input)) return Value::make_null();
    if (!input->is_array()) {
      return refuse(is_filter_ ? 28651 : 16883,
                    fmt::format("input to {} must be an array not {}",
                                is_filter_ ? "$filter" : "$map", type_name(*input)));
    }
    auto limit = find_limit(evaluation);
    if (!limit) return pass(std::move(limit.error()));
    std::vector<Value> results;
    for (const Value& element : input->elements()) {
      if (results.size() >= *limit) break;
      set_variable(evaluation, slot_, element);
      auto result = body_->evaluate(evaluation);
      if (!result) return result;
      if (!is_filter_) {
        if (auto room = evaluation.take(sizeof(Value)); !room) return pass(std::move(room.error()));
        results.push_back(result->is_undefined() ? Value::make_null() : std::move(*result));
      } else if (is_truthy(*result)) {
        results.push_back(element);
      }
    }
    return Value::make_array(std::move(results));
  }

 private:
  Answer<size_t> find_limit(Evaluation& evaluation) const {
    if (!limit_) return std::numeric_limits<size_t>::max();
    auto limit = limit_->evaluate(evaluation);
    if (!limit) return pass(std::move(limit.error()));
    if (is_nullish(*limit)) return std::numeric_limits<size_t>::max();
    const auto count = exact_integer(*limit);
    if (!count || *count > std::numeric_limits<int32_t>::max()) {
      return refuse(327391, fmt::format("$filter: limit must be represented as a 32-bit integral "
                                        "value: {}",
                                        shown(*limit)));
    }
    if (*count < 1) {
      return refuse(327392, fmt::format("$filter: limit must be greater than 0: {}", *count));
    }
    return static_cast<size_t>(*count);
  }

  Node input_;
  Node body_;
  Node limit_;
  size_t slot_;
  bool is_filter_;
};

Answer<Node> parse_each(std::string_view name, const Value& spec, const ParseContext& context,
                        bool is_filter) {
  constexpr std::array<std::string_view, 4> kFilter = {"input", "as", "cond", "limit"};
  constexpr std::array<std::string_view, 3> kMap = {"input", "as", "in"};
  auto members = is_filter ? NamedSpec::take(name, spec, kFilter, 28647, 28646)
                           : NamedSpec::take(name, spec, kMap, 16879, 16878);
  if (!members) return pass(std::move(members.error()));
  const std::string_view body_name = is_filter ? "cond" : "in";
  if (!members->has("input")) {
    return refuse(is_filter ? 28648 : 16880, fmt::format("Missing 'input' parameter to {}", name));
  }
  if (!members->has(body_name)) {
    return refuse(is_filter ? 28650 : 16882,
                  fmt::format("Missing '{}' parameter to {}", body_name, name));
  }
  std::string variable = "this";
  if (const Value as = (*members)["as"]; !as.is_undefined()) {
    if (!as.is_string())
      return refuse(kTypeMismatch, fmt::format("'as' of {} must be a string", name));
    variable = as.text();
    if (auto checked = check_variable_name(variable); !checked) {
      return pass(std::move(checked.error()));
    }
  }
  auto input = parse_node((*members)["input"], context);
  if (!input) return input;
  Node limit;
  if (is_filter && members->has("limit")) {
    auto node = parse_node((*members)["limit"], context);
    if (!node) return node;
    limit = std::move(*node);
  }
  ParseContext inner = context;
  inner.variables.push_back(std::move(variable));
  auto body = parse_node((*members)[body_name], inner);
  if (!body) return body;
  return std::make_shared<EachNode>(std::move(*input), std::move(*body), std::move(limit),
                                    context.variables.size(), is_filter);
}

Answer<Node> parse_filter(std::string_view name, const Value& spec, const ParseContext& context) {
  return parse_each(name, spec, context, true);
}
Answer<Node> parse_map(std::string_view name, const Value& spec, const ParseContext& context) {
  return parse_each(name, spec, context, false);
}

class ReduceNode : public ExpressionNode {
 public:
  ReduceNode(Node input, Node initial, Node body, size_t slot)
      : input_(std::move(input)),
        initial_(std::move(initial)),
        body_(std::move(body)),
        slot_(slot) {}
  Answer<Value> evaluate(Evaluation& evaluation) const override {
    auto input = input_->evaluate(evaluation);
    if (!input) return input;
    if (is_nullish(*input)) return Value::make_null();
    if (!input->is_array()) {
      return refuse(40080, fmt::format("$reduce requires that 'input' be an array, found: {}",
                                       shown(*input)));
    }
    auto value = initial_->evaluate(evaluation);
    if (!value) return value;
    for (const Value& element : input->elements()) {
      set_variable(evaluation, slot_ + 1, element);
      set_variable(evaluation, slot_, *value);
      value = body_->evaluate(evaluation);
      if (!value) return value;
      if (value->memory() > kMaxExpressionBytes) {
        return refuse(kQueryExceededMemory, "$reduce would use too much memory");
      }
    }
    return value;
  }

 private:
  Node input_;
  Node initial_;
  Node body_;
  size_t slot_;  // of $$value; that of $$this follows
};

Answer<Node> parse_reduce(std::string_view name, const Value& spec, const ParseContext& context) {
  constexpr std::array<std::string_view, 3> kNames = {"input", "initialValue", "in"};
  auto members = NamedSpec::take(name, spec, kNames, 40076, 40075);
  if (!members) return pass(std::move(members.error()));
  constexpr std::array kCodes = {40077, 40078, 40079};
  std::array<Node, 3> nodes;
  ParseContext inner = context;
  inner.variables.emplace_back("value");
  inner.variables.emplace_back("this");
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!members->has(kNames[i])) {
      return refuse(kCodes[i], fmt::format("$reduce requires '{}' to be specified", kNames[i]));
    }
    auto node = parse_node((*members)[kNames[i]], i == 2 ? inner : context);
    if (!node) return node;
    nodes[i] = std::move(*node);
  }
  return std::make_shared<ReduceNode>(nodes[0], nodes[1], nodes[2], context.variables.size());
}

class ZipNode : public ExpressionNode {
 public:
  ZipNode(std::vector<Node> inputs, std::vector<Node> defaults, bool is_longest)
      : inputs_(std::move(inputs)), defaults_(std::move(defaults)), is_longest_(is_longest) {}
  Answer<Value> evaluate(Evaluation& evaluation) const override {
    std::vector<std::vector<Value>> columns;
    size_t length = is_longest_ ? 0 : std::numeric_limits<size_t>::max();
    bool has_null = false;
    for (const Node& input : inputs_) {
      auto column = input->evaluate(evaluation);
      if (!column) return column;
      if (is_nullish(*column)) {
        has_null = true;
        continue;
      }
      if (!column->is_array()) {
        return refuse(
            34468, fmt::format("$zip found a non-array expression in input: {}", shown(*column)));
      }
      auto& elements = columns.emplace_back();
      for (const Value& element : column->elements()) elements.push_back(element);
      length = is_longest_ ? std::max(length, elements.size()) : std::min(length, elements.size());
    }
    if (has_null) return Value::make_null();
    std::vector<Value> fillers(columns.size(), Value::make_null());
    for (size_t i = 0; i < defaults_.size(); ++i) {
      auto filler = defaults_[i]->evaluate(evaluation);
      if (!filler) return filler;
      if (!filler->is_undefined()) fillers[i] = std::move(*filler);
    }
    if (auto room = evaluation.take(length * columns.size() * sizeof(Value)); !room) {
      return pass(std::move(room.error()));
    }
    std::vector<Value> rows;
    for (size_t row = 0; row < length; ++row) {
      std::vector<Value> cells;
      for (size_t i = 0; i < columns.size(); ++i) {
        cells.push_back(row < columns[i].size() ? columns[i][row] : fillers[i]);
      }
      rows.push_back(Value::make_array(std::move(cells)));
    }
    return Value::make_array(std::move(rows));
  }

 private:
  std::vector<Node> inputs_;
  std::vector<Node> defaults_;
  bool is_longest_;
};

Answer<Node> parse_zip(std::string_view name, const Value& spec, const ParseContext& context) {
  constexpr std::array<std::string_view, 3> kNames = {"inputs", "useLongestLength", "defaults"};
  auto members = NamedSpec::take(name, spec, kNames, 34464, 34460);
  if (!members) return pass(std::move(members.error()));
  const auto parse_list = [&](const Value& list, std::vector<Node>& nodes) -> Answer<void> {
    for (const Value& one : list.elements()) {
      auto node = parse_node(one, context);
      if (!node) return pass(std::move(node.error()));
      nodes.push_back(std::move(*node));
    }
    return {};
  };
  const Value inputs = (*members)["inputs"];
  const Value longest = (*members)["useLongestLength"];
  const Value defaults = (*members)["defaults"];
  if (!inputs.is_undefined() && !inputs.is_array()) {
    return refuse(
        34461, fmt::format("inputs must be an array of expressions, found {}", type_name(inputs)));
  }
  if (inputs.size() == 0) return refuse(34465, "$zip requires at least one input array");
  if (!longest.is_undefined() && !longest.is_bool()) {
    return refuse(34463,
                  fmt::format("useLongestLength must be a bool, found {}", type_name(longest)));
  }
  if (!defaults.is_undefined()) {
    if (!defaults.is_array()) {
      return refuse(34462, fmt::format("defaults must be an array of expressions, found {}",
                                       type_name(defaults)));
    }
    if (!longest.is_true()) {
      return refuse(34466, "cannot specify defaults unless useLongestLength is true");
    }
    if (defaults.size() != inputs.size()) {
      return refuse(34467, "defaults and inputs must have the same length");
    }
  }
  std::vector<Node> input_nodes;
  std::vector<Node> default_nodes;
  if (auto parsed = parse_list(inputs, input_nodes); !parsed)
    return pass(std::move(parsed.error()));
  if (auto parsed = parse_list(defaults, default_nodes); !parsed) {
    return pass(std::move(parsed.error()));
  }
  return std::make_shared<ZipNode>(std::move(input_nodes), std::move(default_nodes),
                                   longest.is_true());
}

class SortArrayNode : public ExpressionNode {
 public:
  SortArrayNode(Node input, std::optional<SortKey> key, bool is_descending)
      : input_(std::move(input)), key_(std::move(key)), is_descending_(is_descending) {}
  Answer<Value> evaluate(Evaluation& evaluation) const override {
    auto input = input_->evaluate(evaluation);
    if (!input) return input;
    if (is_nullish(*input)) return Value::make_null();
    if (!input->is_array()) {
      return refuse(2942504, fmt::format("The input argument to $sortArray must be an array, but "
                                         "was of type: {}",
                                         type_name(*input)));
    }
    std::vector<Value> elements;
    for (const Value& element : input->elements()) elements.push_back(element);
    if (auto spent = evaluation.spend(elements.size() * 8); !spent) {
      return pass(std::move(spent.error()));
    }
    if (key_) {
      std::vector<std::pair<std::vector<Value>, Value>> keyed;
      for (const Value& element : elements) keyed.emplace_back(key_->of(element), element);
      sort_stably(keyed, [&](const auto& a, const auto& b) {
        return key_->compare(a.first, b.first, evaluation.collation) < 0;
      });
      for (size_t i = 0; i < keyed.size(); ++i) elements[i] = keyed[i].second;
    } else {
      sort_stably(elements, [&](const Value& a, const Value& b) {
        const auto order = compare(a, b, evaluation.collation);
        return is_descending_ ? order > 0 : order < 0;
      });
    }
    return Value::make_array(std::move(elements));
  }

 private:
  Node input_;
  std::optional<SortKey> key_;  // else by the elements themselves
  bool is_descending_;
};

Answer<Node> parse_sort_array(std::string_view name, const Value& spec,
                              const ParseContext& context) {
  constexpr std::array<std::string_view, 2> kNames = {"input", "sortBy"};
  auto members = NamedSpec::take(name, spec, kNames, 2942501, 2942500);
  if (!members) return pass(std::move(members.error()));
  if (!members->has("input")) return refuse(2942502, "$sortArray requires 'input' to be specified");
  const Value by = (*members)["sortBy"];
  if (by.is_undefined()) return refuse(2942503, "$sortArray requires 'sortBy' to be specified");
  auto input = parse_node((*members)["input"], context);
  if (!input) return input;
  if (by.is_object()) {
    auto key = SortKey::parse(by);
    if (!key) return pass(std::move(key.error()));
    return std::make_shared<SortArrayNode>(std::move(*input), std::move(*key), false);
  }
  const auto direction = exact_integer(by);
  if (!direction || (*direction != 1 && *direction != -1)) {
    return refuse(2942507, "The $sort element value must be either 1 or -1");
  }
  return std::make_shared<SortArrayNode>(std::move(*input), std::nullopt, *direction < 0);
}

constexpr std::array kLoopsSpecial = {
    SpecialOperator{"$filter", parse_filter},        SpecialOperator{"$map", parse_map},
    SpecialOperator{"$reduce", parse_reduce},        SpecialOperator{"$zip", parse_zip},
    SpecialOperator{"$sortArray", parse_sort_array},
};

}  // namespace

OperatorTables loop_operators() {
  return {.special = kLoopsSpecial};
}

}  // namespace orrery::mongo
