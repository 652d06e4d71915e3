// $cond, $ifNull, $switch, $let, $literal, and operators that are known and not there.
#include <fmt/format.h>

#include "api/mongo/expression/operators.h"

namespace orrery::mongo {
namespace {

struct Branch {
  Node condition;
  Node result;
};

// $cond and $switch.
class BranchesNode : public ExpressionNode {
 public:
  BranchesNode(std::vector<Branch> branches, Node otherwise)
      : branches_(std::move(branches)), otherwise_(std::move(otherwise)) {}
  Answer<Value> evaluate(Evaluation& evaluation) const override {
    for (const Branch& branch : branches_) {
      auto condition = branch.condition->evaluate(evaluation);
      if (!condition) return condition;
      if (is_truthy(*condition)) return branch.result->evaluate(evaluation);
    }
    if (!otherwise_) {
      return refuse(40066,
                    "$switch could not find a matching branch for an input, and no default "
                    "was specified.");
    }
    return otherwise_->evaluate(evaluation);
  }

 private:
  std::vector<Branch> branches_;
  Node otherwise_;
};

Answer<Node> parse_cond(std::string_view, const Value& spec, const ParseContext& context) {
  std::array<Value, 3> parts;
  if (spec.is_object()) {
    constexpr std::array<std::string_view, 3> kNames = {"if", "then", "else"};
    constexpr std::array kCodes = {17080, 17081, 17082};
    for (const auto& [name, member] : spec.members()) {
      const auto* const found = std::ranges::find(kNames, name);
      if (found == kNames.end()) {
        return refuse(17083, fmt::format("Unrecognized parameter to $cond: {}", name));
      }
      parts[static_cast<size_t>(found - kNames.begin())] = member;
    }
    for (size_t i = 0; i < parts.size(); ++i) {
      if (!parts[i].is_undefined()) continue;
      return refuse(kCodes[i], fmt::format("Missing '{}' parameter to $cond", kNames[i]));
    }
  } else {
    const auto specs = argument_specs(spec);
    if (specs.size() != parts.size()) {
      return refuse(16020, fmt::format("Expression $cond takes exactly 3 arguments. {} were passed "
                                       "in.",
                                       specs.size()));
    }
    std::ranges::copy(specs, parts.begin());
  }
  std::array<Node, 3> nodes;
  for (size_t i = 0; i < parts.size(); ++i) {
    auto node = parse_node(parts[i], context);
    if (!node) return node;
    nodes[i] = std::move(*node);
  }
  std::vector<Branch> branches = {{.condition = nodes[0], .result = nodes[1]}};
  return std::make_shared<BranchesNode>(std::move(branches), nodes[2]);
}

Answer<Branch> parse_branch(const Value& spec, const ParseContext& context) {
  if (!spec.is_object()) {
    return refuse(40062, fmt::format("$switch expected each branch to be an object, found: {}",
                                     type_name(spec)));
  }
  Branch branch;
  for (const auto& [name, member] : spec.members()) {
    if (name != "case" && name != "then") {
      return refuse(40063, fmt::format("$switch found an unknown argument to a branch: {}", name));
    }
    auto node = parse_node(member, context);
    if (!node) return pass(std::move(node.error()));
    (name == "case" ? branch.condition : branch.result) = std::move(*node);
  }
  if (!branch.condition) {
    return refuse(40064, "$switch requires each branch have a 'case' expression");
  }
  if (!branch.result)
    return refuse(40065, "$switch requires each branch have a 'then' expression.");
  return branch;
}

Answer<Node> parse_switch(std::string_view, const Value& spec, const ParseContext& context) {
  if (!spec.is_object()) {
    return refuse(40060, fmt::format("$switch requires an object as an argument, found: {}",
                                     type_name(spec)));
  }
  std::vector<Branch> branches;
  Node otherwise;
  for (const auto& [name, member] : spec.members()) {
    if (name == "branches") {
      if (!member.is_array()) {
        return refuse(40061, fmt::format("$switch expected an array for 'branches', found: {}",
                                         type_name(member)));
      }
      for (const Value& one : member.elements()) {
        auto branch = parse_branch(one, context);
        if (!branch) return pass(std::move(branch.error()));
        branches.push_back(std::move(*branch));
      }
    } else if (name == "default") {
      auto node = parse_node(member, context);
      if (!node) return node;
      otherwise = std::move(*node);
    } else {
      return refuse(40067, fmt::format("$switch found an unknown argument: {}", name));
    }
  }
  if (branches.empty()) return refuse(40068, "$switch requires at least one branch.");
  return std::make_shared<BranchesNode>(std::move(branches), std::move(otherwise));
}

class IfNullNode : public ExpressionNode {
 public:
  explicit IfNullNode(std::vector<Node> arguments) : arguments_(std::move(arguments)) {}
  Answer<Value> evaluate(Evaluation& evaluation) const override {
    for (size_t i = 0; i + 1 < arguments_.size(); ++i) {
      auto value = arguments_[i]->evaluate(evaluation);
      if (!value || !is_nullish(*value)) return value;
    }
    return arguments_.back()->evaluate(evaluation);
  }

 private:
  std::vector<Node> arguments_;
};

Answer<Node> parse_if_null(std::string_view, const Value& spec, const ParseContext& context) {
  std::vector<Node> arguments;
  for (const Value& argument : argument_specs(spec)) {
    auto node = parse_node(argument, context);
    if (!node) return node;
    arguments.push_back(std::move(*node));
  }
  if (arguments.size() < 2) {
    return refuse(1257300,
                  fmt::format("$ifNull needs at least two arguments, had: {}", arguments.size()));
  }
  return std::make_shared<IfNullNode>(std::move(arguments));
}

class LetNode : public ExpressionNode {
 public:
  LetNode(size_t first_slot, std::vector<Node> variables, Node result)
      : first_slot_(first_slot), variables_(std::move(variables)), result_(std::move(result)) {}
  Answer<Value> evaluate(Evaluation& evaluation) const override {
    // All are evaluated before any is seen: they do not see one another.
    std::vector<Value> values;
    values.reserve(variables_.size());
    for (const Node& variable : variables_) {
      auto value = variable->evaluate(evaluation);
      if (!value) return value;
      values.push_back(std::move(*value));
    }
    evaluation.variables.resize(first_slot_);
    for (Value& value : values) evaluation.variables.push_back(std::move(value));
    return result_->evaluate(evaluation);
  }

 private:
  size_t first_slot_;
  std::vector<Node> variables_;
  Node result_;
};

Answer<Node> parse_let(std::string_view, const Value& spec, const ParseContext& context) {
  if (!spec.is_object()) return refuse(16874, "$let only supports an object as its argument");
  for (const auto& [name, member] : spec.members()) {
    if (name != "vars" && name != "in") {
      return refuse(16875, fmt::format("Unrecognized parameter to $let: {}", name));
    }
  }
  const Value vars = spec.find("vars");
  const Value in = spec.find("in");
  if (vars.is_undefined()) return refuse(16876, "Missing 'vars' parameter to $let");
  if (in.is_undefined()) return refuse(16877, "Missing 'in' parameter to $let");
  if (!vars.is_object()) return refuse(10065, "invalid parameter: expected an object (vars)");
  ParseContext inner = context;
  std::vector<Node> variables;
  for (const auto& [name, member] : vars.members()) {
    if (auto checked = check_variable_name(name); !checked) return pass(std::move(checked.error()));
    auto node = parse_node(member, context);
    if (!node) return node;
    variables.push_back(std::move(*node));
    inner.variables.emplace_back(name);
  }
  auto result = parse_node(in, inner);
  if (!result) return result;
  return std::make_shared<LetNode>(context.variables.size(), std::move(variables),
                                   std::move(*result));
}

Answer<Node> parse_literal(std::string_view, const Value& spec, const ParseContext&) {
  return constant_node(spec);
}

Answer<Node> parse_not_there(std::string_view name, const Value&, const ParseContext&) {
  return refuse(kNotImplemented, fmt::format("{} is not supported", name));
}

Answer<Node> parse_meta(std::string_view, const Value& spec, const ParseContext&) {
  if (!spec.is_string()) {
    return refuse(17307, fmt::format("$meta must be applied to a string, not {}", type_name(spec)));
  }
  return refuse(40218,
                fmt::format("query requires {} metadata, but it is not available", spec.text()));
}

constexpr std::array kConditionalSpecial = {
    SpecialOperator{"$cond", parse_cond},
    SpecialOperator{"$switch", parse_switch},
    SpecialOperator{"$ifNull", parse_if_null},
    SpecialOperator{"$let", parse_let},
    SpecialOperator{"$literal", parse_literal},
    SpecialOperator{"$const", parse_literal},
    SpecialOperator{"$meta", parse_meta},
    SpecialOperator{"$function", parse_not_there},
    SpecialOperator{"$accumulator", parse_not_there},
    SpecialOperator{"$toHashedIndexKey", parse_not_there},
};

}  // namespace

OperatorTables conditional_operators() {
  return {.special = kConditionalSpecial};
}

}  // namespace orrery::mongo
