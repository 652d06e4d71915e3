// Comparison and boolean operators.
#include "api/mongo/expression/operators.h"

namespace orrery::mongo {
namespace {

template <auto kTest>
Answer<Value> compare_two(const Arguments& arguments) {
  return Value::make_bool(
      kTest(compare(arguments[0], arguments[1], arguments.evaluation.collation)));
}

Answer<Value> do_cmp(const Arguments& arguments) {
  const auto order = compare(arguments[0], arguments[1], arguments.evaluation.collation);
  return make_int32(order < 0 ? -1 : order > 0 ? 1 : 0);
}

Answer<Value> do_not(const Arguments& arguments) {
  return Value::make_bool(!is_truthy(arguments[0]));
}

// $and and $or stop at the first argument that decides.
class JunctionNode : public ExpressionNode {
 public:
  JunctionNode(bool decides, std::vector<Node> arguments)
      : decides_(decides), arguments_(std::move(arguments)) {}
  Answer<Value> evaluate(Evaluation& evaluation) const override {
    for (const Node& argument : arguments_) {
      auto value = argument->evaluate(evaluation);
      if (!value) return value;
      if (is_truthy(*value) == decides_) return Value::make_bool(decides_);
    }
    return Value::make_bool(!decides_);
  }

 private:
  bool decides_;
  std::vector<Node> arguments_;
};

template <bool kDecides>
Answer<Node> parse_junction(std::string_view, const Value& spec, const ParseContext& context) {
  std::vector<Node> arguments;
  for (const Value& argument : argument_specs(spec)) {
    auto node = parse_node(argument, context);
    if (!node) return node;
    arguments.push_back(std::move(*node));
  }
  return std::make_shared<JunctionNode>(kDecides, std::move(arguments));
}

constexpr std::array kComparisonPositional = {
    PositionalOperator{"$eq", 2, 2, compare_two<[](std::strong_ordering o) { return o == 0; }>},
    PositionalOperator{"$ne", 2, 2, compare_two<[](std::strong_ordering o) { return o != 0; }>},
    PositionalOperator{"$gt", 2, 2, compare_two<[](std::strong_ordering o) { return o > 0; }>},
    PositionalOperator{"$gte", 2, 2, compare_two<[](std::strong_ordering o) { return o >= 0; }>},
    PositionalOperator{"$lt", 2, 2, compare_two<[](std::strong_ordering o) { return o < 0; }>},
    PositionalOperator{"$lte", 2, 2, compare_two<[](std::strong_ordering o) { return o <= 0; }>},
    PositionalOperator{"$cmp", 2, 2, do_cmp},
    PositionalOperator{"$not", 1, 1, do_not},
};

constexpr std::array kComparisonSpecial = {
    SpecialOperator{"$and", parse_junction<false>},
    SpecialOperator{"$or", parse_junction<true>},
};

}  // namespace

OperatorTables comparison_operators() {
  return {.positional = kComparisonPositional, .special = kComparisonSpecial};
}

}  // namespace orrery::mongo
