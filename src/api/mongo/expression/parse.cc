// Parsing of expressions: constants, paths, variables, objects, arrays, and calls of operators.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "api/mongo/expression/operators.h"

namespace orrery::mongo {
namespace {

constexpr size_t kMaxPathSteps = 200;

// Values share their parts, so a short expression can make one that nobody can walk over.
Answer<Value> within_bounds(Answer<Value> value) {
  if (value && value->written_bytes() > kMaxExpressionBytes) [[unlikely]] {
    return refuse(kQueryExceededMemory, "an expression makes a value that is too large");
  }
  return value;
}

class ConstantNode : public ExpressionNode {
 public:
  explicit ConstantNode(Value value) : value_(std::move(value)) {}
  Answer<Value> evaluate(Evaluation&) const override { return value_; }
  const Value* constant() const override { return &value_; }

 private:
  Value value_;
};

// A system variable, one of a slot, or the current document; and a path within it.
class PathNode : public ExpressionNode {
 public:
  enum class Start : uint8_t { current, root, now, cluster_time, nothing, slot };
  PathNode(Start start, size_t slot, std::vector<std::string> steps)
      : start_(start), slot_(slot), steps_(std::move(steps)) {
    for (const std::string& step : steps_) {
      if (!path_.empty()) path_ += '.';
      path_ += step;
    }
  }

  Answer<Value> evaluate(Evaluation& evaluation) const override {
    if (evaluation.budget.spend(1 + steps_.size())) return evaluation.over();
    const Value& from = start_value(evaluation);
    // Most paths are a member of the document.
    if (steps_.size() == 1 && from.is_object()) return from.find(steps_.front());
    return path_value(from, steps_);
  }
  std::string_view field_path() const override {
    return start_ == Start::current ? std::string_view(path_) : std::string_view();
  }

 private:
  const Value& start_value(const Evaluation& evaluation) const {
    static const Value kNothing{};
    switch (start_) {
      case Start::current:
        return evaluation.current;
      case Start::root:
        return evaluation.root;
      case Start::now:
        return evaluation.now;
      case Start::cluster_time:
        return evaluation.cluster_time;
      case Start::slot:
        return slot_ < evaluation.variables.size() ? evaluation.variables[slot_] : kNothing;
      case Start::nothing:
        break;
    }
    return kNothing;
  }

  Start start_;
  size_t slot_;
  std::vector<std::string> steps_;
  std::string path_;
};

class ArrayNode : public ExpressionNode {
 public:
  explicit ArrayNode(std::vector<Node> elements) : elements_(std::move(elements)) {}
  Answer<Value> evaluate(Evaluation& evaluation) const override {
    std::vector<Value> values;
    values.reserve(elements_.size());
    for (const Node& element : elements_) {
      auto value = element->evaluate(evaluation);
      if (!value) return value;
      values.push_back(value->is_undefined() ? Value::make_null() : std::move(*value));
    }
    return within_bounds(Value::make_array(std::move(values)));
  }

 private:
  std::vector<Node> elements_;
};

class ObjectNode : public ExpressionNode {
 public:
  explicit ObjectNode(std::vector<std::pair<Value, Node>> members) : members_(std::move(members)) {}
  Answer<Value> evaluate(Evaluation& evaluation) const override {
    std::vector<Value::Field> fields;
    fields.reserve(members_.size());
    for (const auto& [name, member] : members_) {
      auto value = member->evaluate(evaluation);
      if (!value) return value;
      fields.push_back({.name = name, .value = std::move(*value)});
    }
    return within_bounds(Value::make_object(std::move(fields)));
  }

 private:
  std::vector<std::pair<Value, Node>> members_;
};

class CallNode : public ExpressionNode {
 public:
  CallNode(std::string_view name, OperatorFunction function, std::vector<Node> arguments,
           bool is_null_of_null)
      : name_(name),
        function_(function),
        arguments_(std::move(arguments)),
        is_null_of_null_(is_null_of_null) {
    for (size_t i = 0; i < arguments_.size() && i < 32; ++i) {
      if (arguments_[i]) given_ |= 1U << i;
    }
  }

  Answer<Value> evaluate(Evaluation& evaluation) const override {
    if (evaluation.budget.spend(1)) return evaluation.over();
    constexpr size_t kFew = 4;
    if (arguments_.size() <= kFew) {
      std::array<Value, kFew> values;
      return call(evaluation, std::span(values).first(arguments_.size()));
    }
    std::vector<Value> values(arguments_.size());
    return call(evaluation, values);
  }

 private:
  Answer<Value> call(Evaluation& evaluation, std::span<Value> values) const {
    bool has_null = false;
    for (size_t i = 0; i < arguments_.size(); ++i) {
      if (!arguments_[i]) continue;
      auto value = arguments_[i]->evaluate(evaluation);
      if (!value) return value;
      values[i] = std::move(*value);
      has_null = has_null || is_nullish(values[i]);
    }
    if (has_null && is_null_of_null_) return Value::make_null();
    return within_bounds(
        function_({.evaluation = evaluation, .name = name_, .values = values, .given = given_}));
  }

  std::string_view name_;
  OperatorFunction function_;
  std::vector<Node> arguments_;
  bool is_null_of_null_;
  uint32_t given_ = 0;
};

struct Operator {
  const PositionalOperator* positional = nullptr;
  const NamedOperator* named = nullptr;
  const SpecialOperator* special = nullptr;
};

const std::map<std::string_view, Operator>& all_operators() {
  static const auto operators = [] {
    std::map<std::string_view, Operator> made;
    for (const OperatorTables& tables :
         {arithmetic_operators(), trigonometry_operators(), comparison_operators(),
          conditional_operators(), array_operators(), loop_operators(), summary_operators(),
          set_operators(), string_operators(), text_search_operators(), regex_operators(),
          object_operators(), type_operators(), date_part_operators(), date_text_operators(),
          date_arithmetic_operators()}) {
      for (const auto& one : tables.positional) made[one.name].positional = &one;
      for (const auto& one : tables.named) made[one.name].named = &one;
      for (const auto& one : tables.special) made[one.name].special = &one;
    }
    return made;
  }();
  return operators;
}

// What they give depends on the collation, or on chance: they wait for the evaluation.
constexpr std::array<std::string_view, 20> kNotFolded = {"$eq",
                                                         "$ne",
                                                         "$gt",
                                                         "$gte",
                                                         "$lt",
                                                         "$lte",
                                                         "$cmp",
                                                         "$in",
                                                         "$indexOfArray",
                                                         "$setUnion",
                                                         "$setIntersection",
                                                         "$min",
                                                         "$max",
                                                         "$minN",
                                                         "$maxN",
                                                         "$setEquals",
                                                         "$setDifference",
                                                         "$setIsSubset",
                                                         "$sortArray",
                                                         "$firstN"};
// More work than this is not done while parsing.
constexpr uint64_t kFoldingSteps = 10'000;

// A call whose arguments are constants is one itself. An error in it is one of parsing, also where
// the call would never be evaluated.
Answer<Node> fold(std::string_view name, const std::vector<Node>& arguments, Node call) {
  const auto is_constant = [](const Node& argument) {
    return !argument || argument->constant() != nullptr;
  };
  if (!std::ranges::all_of(arguments, is_constant) ||
      std::ranges::find(kNotFolded, name) != kNotFolded.end()) {
    return call;
  }
  Budget budget;
  budget.start({.bytes = kFoldingSteps * Budget::kBytesOfStep, .steps = kFoldingSteps});
  Evaluation evaluation(budget);
  auto value = call->evaluate(evaluation);
  if (budget.is_over()) return call;
  if (!value) return pass(std::move(value.error()));
  return constant_node(*value);
}

Answer<Node> parse_positional(const PositionalOperator& one, const Value& spec,
                              const ParseContext& context) {
  const std::vector<Value> specs = argument_specs(spec);
  const auto count = static_cast<int>(specs.size());
  if (count < one.min || (one.max != kAnyNumber && count > one.max)) {
    const std::string wants = one.max == one.min ? fmt::format("exactly {}", one.min)
                              : one.max == kAnyNumber
                                  ? fmt::format("at least {}", one.min)
                                  : fmt::format("at least {} and at most {}", one.min, one.max);
    return refuse(one.max == one.min ? 16020 : 28667,
                  fmt::format("Expression {} takes {} arguments. {} were passed in.", one.name,
                              wants, count));
  }
  std::vector<Node> arguments;
  for (const Value& argument : specs) {
    auto node = parse_node(argument, context);
    if (!node) return node;
    arguments.push_back(std::move(*node));
  }
  return fold(one.name, arguments,
              std::make_shared<CallNode>(one.name, one.function, arguments, one.is_null_of_null));
}

Answer<Node> parse_operator(const Value& spec, const ParseContext& context) {
  const Value::Member call = *spec.members().begin();
  if (spec.size() != 1) {
    return refuse(15983, fmt::format("an object representing an expression must have exactly one "
                                     "field: {}",
                                     shown(spec)));
  }
  const auto found = all_operators().find(call.name);
  if (found == all_operators().end()) {
    return refuse(kInvalidPipelineOperator, fmt::format("Unrecognized expression '{}'", call.name));
  }
  const Operator& one = found->second;
  if (one.special != nullptr) return one.special->parse(one.special->name, call.value, context);
  if (one.named != nullptr) return parse_named(*one.named, call.value, context);
  return parse_positional(*one.positional, call.value, context);
}

Answer<Node> parse_object(const Value& spec, const ParseContext& context) {
  std::vector<std::pair<Value, Node>> members;
  bool is_constant = true;
  for (const auto& [name, member] : spec.members()) {
    if (name.starts_with('$')) {
      return refuse(15983, fmt::format("an object representing an expression must have exactly one "
                                       "field: {}",
                                       shown(spec)));
    }
    if (name.find('.') != std::string_view::npos) {
      return refuse(16412, fmt::format("FieldPath field names may not contain '.'. Consider using "
                                       "$getField or $setField. Found '{}'.",
                                       name));
    }
    auto node = parse_node(member, context);
    if (!node) return node;
    is_constant = is_constant && (*node)->constant() != nullptr;
    members.emplace_back(Value::make_string(std::string(name)), std::move(*node));
  }
  if (!is_constant) return std::make_shared<ObjectNode>(std::move(members));
  std::vector<Value::Field> fields;
  for (const auto& [name, node] : members) {
    fields.push_back({.name = name, .value = *node->constant()});
  }
  return constant_node(Value::make_object(std::move(fields)));
}

Answer<Node> parse_array(const Value& spec, const ParseContext& context) {
  std::vector<Node> elements;
  bool is_constant = true;
  for (const Value& element : spec.elements()) {
    auto node = parse_node(element, context);
    if (!node) return node;
    is_constant = is_constant && (*node)->constant() != nullptr;
    elements.push_back(std::move(*node));
  }
  if (!is_constant) return std::make_shared<ArrayNode>(std::move(elements));
  std::vector<Value> values;
  for (const Node& node : elements) values.push_back(*node->constant());
  return constant_node(Value::make_array(std::move(values)));
}

struct SystemVariable {
  std::string_view name;
  PathNode::Start start;
};
constexpr std::array kSystemVariables = {
    SystemVariable{"CURRENT", PathNode::Start::current},
    SystemVariable{"ROOT", PathNode::Start::root},
    SystemVariable{"NOW", PathNode::Start::now},
    SystemVariable{"CLUSTER_TIME", PathNode::Start::cluster_time},
    SystemVariable{"REMOVE", PathNode::Start::nothing},
};

// {$ref, $id}: a pointer to a document is a value.
bool is_reference(const Value& spec) {
  return spec.is_object() && spec.size() >= 2 && (*spec.members().begin()).name == "$ref" &&
         !spec.find("$id").is_undefined();
}

Answer<Node> parse_variable(std::string_view text, const ParseContext& context) {
  const size_t dot = text.find('.');
  const std::string_view name = text.substr(0, dot);
  if (name.empty()) return refuse(16869, "empty variable names are not allowed");
  std::vector<std::string> steps;
  if (dot != std::string_view::npos) {
    auto parsed = parse_path(text.substr(dot + 1));
    if (!parsed) return pass(std::move(parsed.error()));
    steps = std::move(*parsed);
  }
  for (size_t slot = context.variables.size(); slot-- > 0;) {
    if (context.variables[slot] == name) {
      return std::make_shared<PathNode>(PathNode::Start::slot, slot, std::move(steps));
    }
  }
  for (const SystemVariable& known : kSystemVariables) {
    if (known.name == name) return std::make_shared<PathNode>(known.start, 0, std::move(steps));
  }
  return refuse(17276, fmt::format("Use of undefined variable: {}", name));
}

}  // namespace

Answer<Node> parse_named(const NamedOperator& one, const Value& spec, const ParseContext& context) {
  if (!spec.is_object()) {
    return refuse(one.not_object, fmt::format("{} only supports an object as an argument, found {}",
                                              one.name, type_name(spec)));
  }
  const auto end = std::ranges::find(one.parameters, std::string_view(), &Parameter::name);
  std::vector<Node> arguments(static_cast<size_t>(end - one.parameters.begin()));
  for (const auto& [name, member] : spec.members()) {
    const auto found = std::find_if(one.parameters.begin(), end,
                                    [&](const Parameter& known) { return known.name == name; });
    if (found == end) {
      return refuse(one.unknown, fmt::format("{} found an unknown argument: {}", one.name, name));
    }
    auto node = parse_node(member, context);
    if (!node) return node;
    arguments[static_cast<size_t>(found - one.parameters.begin())] = std::move(*node);
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] || one.parameters[i].required == 0) continue;
    return refuse(one.parameters[i].required, fmt::format("{} requires '{}' to be specified",
                                                          one.name, one.parameters[i].name));
  }
  return fold(one.name, arguments,
              std::make_shared<CallNode>(one.name, one.function, arguments, false));
}

Node call_node(std::string_view name, OperatorFunction function, std::vector<Node> arguments) {
  return std::make_shared<CallNode>(name, function, std::move(arguments), false);
}

Node constant_node(const Value& value) {
  return std::make_shared<ConstantNode>(value.to_owned());
}

std::vector<Value> argument_specs(const Value& spec) {
  if (!spec.is_array()) return {spec};
  std::vector<Value> specs;
  specs.reserve(spec.size());
  for (const Value& element : spec.elements()) specs.push_back(element);
  return specs;
}

Answer<ParseContext> deeper(const ParseContext& context) {
  if (context.depth >= kMaxNesting) {
    return refuse(kOverflow,
                  fmt::format("an expression may be nested {} levels deep at most", kMaxNesting));
  }
  ParseContext inner = context;
  ++inner.depth;
  return inner;
}

Answer<Node> parse_node(const Value& spec, const ParseContext& context) {
  if (spec.is_string() && spec.text().starts_with('$')) {
    std::string_view text = spec.text();
    text.remove_prefix(1);
    if (text.starts_with('$')) return parse_variable(text.substr(1), context);
    if (text.empty()) return refuse(16872, "'$' by itself is not a valid FieldPath");
    // Whoever names a variable CURRENT moves what paths start at.
    if (std::ranges::find(context.variables, "CURRENT") != context.variables.end()) {
      return parse_variable(fmt::format("CURRENT.{}", text), context);
    }
    auto steps = parse_path(text);
    if (!steps) return pass(std::move(steps.error()));
    return std::make_shared<PathNode>(PathNode::Start::current, 0, std::move(*steps));
  }
  if (!spec.is_object() && !spec.is_array()) return constant_node(spec);
  if (is_reference(spec)) return constant_node(spec);
  auto inner = deeper(context);
  if (!inner) return pass(std::move(inner.error()));
  if (spec.is_array()) return parse_array(spec, *inner);
  return is_operator(spec) ? parse_operator(spec, *inner) : parse_object(spec, *inner);
}

Answer<NamedSpec> NamedSpec::take(std::string_view name, const Value& spec,
                                  std::span<const std::string_view> known, int32_t unknown,
                                  int32_t not_object) {
  if (!spec.is_object()) {
    return refuse(not_object, fmt::format("{} only supports an object as an argument, found {}",
                                          name, type_name(spec)));
  }
  for (const auto& [parameter, member] : spec.members()) {
    if (std::ranges::find(known, parameter) == known.end()) {
      return refuse(unknown, fmt::format("{} found an unknown argument: {}", name, parameter));
    }
  }
  return NamedSpec(spec);
}

std::unexpected<Error> wrong_type(int32_t code, std::string_view name, std::string_view wants,
                                  const Value& given) {
  return refuse(code, fmt::format("{} {}, not {}", name, wants, type_name(given)));
}

bool is_operator(const Value& spec) {
  if (!spec.is_object() || spec.size() == 0) return false;
  const Value::Member first = *spec.members().begin();
  return first.name.starts_with('$');
}

Answer<std::vector<std::string>> parse_path(std::string_view path) {
  if (path.empty()) return refuse(40352, "FieldPath cannot be constructed with empty string");
  if (path.ends_with('.')) return refuse(40353, "FieldPath must not end with a '.'.");
  std::vector<std::string> steps;
  for (size_t start = 0; start <= path.size();) {
    const size_t dot = std::min(path.find('.', start), path.size());
    const std::string_view step = path.substr(start, dot - start);
    if (step.empty()) return refuse(15998, "FieldPath field names may not be empty strings.");
    if (step.starts_with('$')) {
      return refuse(16410, fmt::format("FieldPath field names may not start with '$'. Consider "
                                       "using $getField or $setField. Found '{}'.",
                                       step));
    }
    if (step.find('\0') != std::string_view::npos) {
      return refuse(16411, "FieldPath field names may not contain '\\0'.");
    }
    if (steps.size() == kMaxPathSteps) return refuse(kOverflow, "FieldPath is too long");
    steps.emplace_back(step);
    start = dot + 1;
  }
  return steps;
}

Value path_value(const Value& from, const std::vector<std::string>& steps, size_t at) {
  if (at == steps.size()) return from;
  if (from.is_object()) return path_value(from.find(steps[at]), steps, at + 1);
  if (!from.is_array()) return {};
  std::vector<Value> values;
  for (const Value& element : from.elements()) {
    if (element.is_object()) values.push_back(path_value(element, steps, at));
  }
  return Value::make_array(std::move(values));
}

Answer<Expression> Expression::parse(const Value& spec, const ParseContext& context) {
  auto node = parse_node(spec, context);
  if (!node) return pass(std::move(node.error()));
  return Expression(std::move(*node));
}

Expression Expression::of_constant(const Value& value) {
  return Expression(constant_node(value));
}

std::unexpected<Error> Evaluation::over() const {
  if (budget.ended() == Budget::Ended::memory) {
    return refuse(kQueryExceededMemory, "the operation needs more memory than it may have");
  }
  return refuse(kMaxTimeMsExpired, "operation exceeded time limit");
}

}  // namespace orrery::mongo
