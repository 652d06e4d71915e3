// Operators on objects, and sizes of data.
#include <fmt/format.h>

#include "api/mongo/expression/operators.h"

namespace orrery::mongo {
namespace {

Answer<Value> do_merge_objects(const Arguments& arguments) {
  std::vector<Value::Field> fields;
  for (const Value& object : arguments.values) {
    if (is_nullish(object)) continue;
    if (!object.is_object()) {
      return refuse(40400, fmt::format("$mergeObjects requires object inputs, but input {} is of "
                                       "type {}",
                                       shown(object), type_name(object)));
    }
    for (const auto& [name, member] : object.members()) fields.push_back(field(name, member));
  }
  return Value::make_object(std::move(fields));
}

// $mergeObjects of one argument that is an array merges the array's elements.
Answer<Value> do_merge(const Arguments& arguments) {
  if (arguments.size() != 1 || !arguments[0].is_array()) return do_merge_objects(arguments);
  std::vector<Value> elements;
  for (const Value& element : arguments[0].elements()) elements.push_back(element);
  return do_merge_objects(
      {.evaluation = arguments.evaluation, .name = arguments.name, .values = elements});
}

class FieldNode : public ExpressionNode {
 public:
  FieldNode(Node name, Node input) : name_(std::move(name)), input_(std::move(input)) {}
  Answer<Value> evaluate(Evaluation& evaluation) const override {
    auto name = name_->evaluate(evaluation);
    if (!name) return name;
    if (!name->is_string()) {
      return refuse(3041704, fmt::format("$getField requires 'field' to evaluate to type String, "
                                         "but got {}",
                                         type_name(*name)));
    }
    auto input = input_->evaluate(evaluation);
    if (!input) return input;
    if (input->is_null()) return input;
    return input->find(name->text());
  }

 private:
  Node name_;
  Node input_;
};

// The name of a field: a constant string, a $ in front of it being a part of the name only within
// $literal.
Answer<Node> parse_field_name(std::string_view name, const Value& spec, const ParseContext& context,
                              int32_t code) {
  auto node = parse_node(spec, context);
  if (!node) return node;
  const Value* const constant = (*node)->constant();
  if (constant == nullptr) {
    return refuse(code, fmt::format("{} requires 'field' to evaluate to a constant, but got a "
                                    "non-constant argument",
                                    name));
  }
  if (!constant->is_string()) {
    return refuse(code == 4161106 ? 4161107 : 5654602,
                  fmt::format("{} requires 'field' to evaluate to type String, but got {}", name,
                              type_name(*constant)));
  }
  if (constant->text().find('\0') != std::string_view::npos) {
    return refuse(4161108, fmt::format("{}: 'field' cannot contain an embedded null byte", name));
  }
  return node;
}

Answer<Node> parse_get_field(std::string_view name, const Value& spec,
                             const ParseContext& context) {
  Value field_spec = spec;
  Value input = Value::borrow_string("$$CURRENT");
  if (spec.is_object() && !is_operator(spec)) {
    constexpr std::array<std::string_view, 2> kNames = {"field", "input"};
    auto members = NamedSpec::take(name, spec, kNames, 3041701, 3041700);
    if (!members) return pass(std::move(members.error()));
    if (!members->has("field"))
      return refuse(3041702, "$getField requires 'field' to be specified");
    if (!members->has("input"))
      return refuse(3041703, "$getField requires 'input' to be specified");
    field_spec = (*members)["field"];
    input = (*members)["input"];
  }
  auto field_node = parse_node(field_spec, context);
  if (!field_node) return field_node;
  if (const Value* const constant = (*field_node)->constant();
      constant != nullptr && !constant->is_string()) {
    return refuse(5654602, fmt::format("$getField requires 'field' to evaluate to type String, but "
                                       "got {}",
                                       type_name(*constant)));
  }
  auto input_node = parse_node(input, context);
  if (!input_node) return input_node;
  return std::make_shared<FieldNode>(std::move(*field_node), std::move(*input_node));
}

class SetFieldNode : public ExpressionNode {
 public:
  SetFieldNode(Node name, Node input, Node value)
      : name_(std::move(name)), input_(std::move(input)), value_(std::move(value)) {}
  Answer<Value> evaluate(Evaluation& evaluation) const override {
    auto input = input_->evaluate(evaluation);
    if (!input) return input;
    Value value;
    if (value_) {
      auto given = value_->evaluate(evaluation);
      if (!given) return given;
      value = std::move(*given);
    }
    if (is_nullish(*input)) return Value::make_null();
    if (!input->is_object()) {
      return refuse(4161105, fmt::format("$setField requires 'input' to evaluate to type Object, "
                                         "but got {}",
                                         type_name(*input)));
    }
    return with_member(*input, name_->constant()->text(), value);
  }

 private:
  Node name_;
  Node input_;
  Node value_;  // null: the field is taken away
};

Answer<Node> parse_set_field(std::string_view name, const Value& spec,
                             const ParseContext& context) {
  const bool is_set = name == "$setField";
  constexpr std::array<std::string_view, 3> kNames = {"field", "input", "value"};
  auto members =
      NamedSpec::take(name, spec, std::span(kNames).first(is_set ? 3 : 2), 4161101, 4161100);
  if (!members) return pass(std::move(members.error()));
  for (size_t i = 0; i < (is_set ? 3 : 2); ++i) {
    if (!members->has(kNames[i])) {
      return refuse(4161102, fmt::format("{} requires '{}' to be specified", name, kNames[i]));
    }
  }
  auto field_name = parse_field_name(name, (*members)["field"], context, 4161106);
  if (!field_name) return field_name;
  auto input = parse_node((*members)["input"], context);
  if (!input) return input;
  Node value;
  if (is_set) {
    auto node = parse_node((*members)["value"], context);
    if (!node) return node;
    value = std::move(*node);
  }
  return std::make_shared<SetFieldNode>(std::move(*field_name), std::move(*input),
                                        std::move(value));
}

Answer<Value> do_bson_size(const Arguments& arguments) {
  if (!arguments[0].is_object()) {
    return refuse(31393, fmt::format("$bsonSize requires a document input, found: {}",
                                     type_name(arguments[0])));
  }
  return make_int32(static_cast<int64_t>(bson_size(arguments[0])));
}

Answer<Value> do_binary_size(const Arguments& arguments) {
  const Value& value = arguments[0];
  if (value.is_string()) return make_int32(static_cast<int64_t>(value.text().size()));
  if (value.type() == Type::binary) return make_int32(static_cast<int64_t>(value.bytes().size()));
  return refuse(51276, fmt::format("$binarySize requires a string or BinData argument, found: {}",
                                   type_name(value)));
}

constexpr std::array kObjectsPositional = {
    PositionalOperator{"$mergeObjects", 0, kAnyNumber, do_merge},
    PositionalOperator{"$bsonSize", 1, 1, do_bson_size, true},
    PositionalOperator{"$binarySize", 1, 1, do_binary_size, true},
};

constexpr std::array kObjectsSpecial = {
    SpecialOperator{"$getField", parse_get_field},
    SpecialOperator{"$setField", parse_set_field},
    SpecialOperator{"$unsetField", parse_set_field},
};

}  // namespace

OperatorTables object_operators() {
  return {.positional = kObjectsPositional, .special = kObjectsSpecial};
}

}  // namespace orrery::mongo
