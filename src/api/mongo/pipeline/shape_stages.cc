// Stages that change one document at a time: $project, $addFields, $set, $unset, $replaceRoot,
// $replaceWith, $redact.
#include <fmt/format.h>

#include "api/mongo/pipeline/shape.h"
#include "api/mongo/pipeline/stage.h"

namespace orrery::mongo {
namespace {

class ShapeStage : public MapStage {
 public:
  explicit ShapeStage(Shape shape) : shape_(std::move(shape)) {}
  Document map(const Value& document, Run& run) const override {
    auto shaped = shape_.apply(document, run.evaluation);
    if (!shaped) return pass(std::move(shaped.error()));
    return std::optional(std::move(*shaped));
  }
  bool is_for_updates() const override { return true; }

 private:
  Shape shape_;
};

Answer<StagePtr> of_shape(Answer<Shape> shape) {
  if (!shape) return pass(std::move(shape.error()));
  return std::make_shared<ShapeStage>(std::move(*shape));
}

Answer<StagePtr> parse_project(std::string_view, const Value& spec, StageParser& parser) {
  return of_shape(Shape::parse_project(spec, parser.context.expressions));
}
Answer<StagePtr> parse_add_fields(std::string_view name, const Value& spec, StageParser& parser) {
  return of_shape(Shape::parse_add_fields(name, spec, parser.context.expressions));
}
Answer<StagePtr> parse_unset(std::string_view, const Value& spec, StageParser&) {
  return of_shape(Shape::parse_unset(spec));
}

class ReplaceStage : public MapStage {
 public:
  explicit ReplaceStage(Expression root) : root_(std::move(root)) {}
  Document map(const Value& document, Run& run) const override {
    auto root = root_.evaluate(run.evaluation, document);
    if (!root) return pass(std::move(root.error()));
    if (!root->is_object()) {
      return refuse(40228, fmt::format("'newRoot' expression must evaluate to an object, but "
                                       "resulting value was: {}, of type {}",
                                       shown(*root), type_name(*root)));
    }
    return std::optional(std::move(*root));
  }
  bool is_for_updates() const override { return true; }

 private:
  Expression root_;
};

Answer<StagePtr> replace_by(const Value& spec, StageParser& parser) {
  auto root = Expression::parse(spec, parser.context.expressions);
  if (!root) return pass(std::move(root.error()));
  if (const Value* const constant = root->constant();
      constant != nullptr && !constant->is_object()) {
    return refuse(40228,
                  fmt::format("'newRoot' expression must evaluate to an object, but resulting "
                              "value was: {}",
                              shown(*constant)));
  }
  return std::make_shared<ReplaceStage>(std::move(*root));
}

Answer<StagePtr> parse_replace_with(std::string_view, const Value& spec, StageParser& parser) {
  return replace_by(spec, parser);
}

Answer<StagePtr> parse_replace_root(std::string_view, const Value& spec, StageParser& parser) {
  if (!spec.is_object()) {
    return refuse(40229, fmt::format("expected an object as specification for $replaceRoot stage, "
                                     "got {}",
                                     type_name(spec)));
  }
  for (const auto& [name, member] : spec.members()) {
    if (name != "newRoot") {
      return refuse(40230, fmt::format("unrecognized option to $replaceRoot stage: {}", name));
    }
  }
  if (spec.size() == 0) return refuse(40231, "no newRoot specified for the $replaceRoot stage");
  return replace_by(spec.find("newRoot"), parser);
}

constexpr std::string_view kDescend = "descend";
constexpr std::string_view kPrune = "prune";
constexpr std::string_view kKeep = "keep";

class RedactStage : public MapStage {
 public:
  RedactStage(Expression decide, size_t first_slot)
      : decide_(std::move(decide)), first_slot_(first_slot) {}
  Document map(const Value& document, Run& run) const override {
    run.evaluation.root = document;
    auto& variables = run.evaluation.variables;
    if (variables.size() < first_slot_ + 3) variables.resize(first_slot_ + 3);
    variables[first_slot_] = Value::borrow_string(kDescend);
    variables[first_slot_ + 1] = Value::borrow_string(kPrune);
    variables[first_slot_ + 2] = Value::borrow_string(kKeep);
    auto left = redact(document, run, 0);
    if (!left) return pass(std::move(left.error()));
    if (left->is_undefined()) return std::nullopt;
    return std::optional(std::move(*left));
  }

 private:
  // Undefined: nothing is left.
  Answer<Value> redact(const Value& object, Run& run, int depth) const {
    if (depth > 2 * kMaxNesting)
      return refuse(kOverflow, "$redact: the document is nested too deep");
    run.evaluation.current = object;
    auto decision = decide_.evaluate(run.evaluation);
    if (!decision) return decision;
    const std::string_view word = decision->is_string() ? decision->text() : std::string_view();
    if (word == kKeep) return object;
    if (word == kPrune) return Value();
    if (word != kDescend) {
      return refuse(17053,
                    fmt::format("$redact's expression should not return anything aside from "
                                "the variables $$KEEP, $$DESCEND, and $$PRUNE, but returned {}",
                                shown(*decision)));
    }
    std::vector<Value::Field> fields;
    for (const auto& [name, member] : object.members()) {
      auto left = redact_member(member, run, depth + 1);
      if (!left) return left;
      fields.push_back(field(name, std::move(*left)));
    }
    return Value::make_object(std::move(fields));
  }

  Answer<Value> redact_member(const Value& member, Run& run, int depth) const {
    if (member.is_object()) return redact(member, run, depth);
    if (!member.is_array()) return member;
    std::vector<Value> elements;
    for (const Value& element : member.elements()) {
      auto left = redact_member(element, run, depth + 1);
      if (!left) return left;
      elements.push_back(std::move(*left));
    }
    return Value::make_array(std::move(elements));
  }

  Expression decide_;
  size_t first_slot_;
};

Answer<StagePtr> parse_redact(std::string_view, const Value& spec, StageParser& parser) {
  ParseContext context = parser.context.expressions;
  const size_t first_slot = context.variables.size();
  for (const char* const name : {"DESCEND", "PRUNE", "KEEP"}) context.variables.emplace_back(name);
  auto decide = Expression::parse(spec, context);
  if (!decide) return pass(std::move(decide.error()));
  return std::make_shared<RedactStage>(std::move(*decide), first_slot);
}

constexpr std::array kShapeStages = {
    StageKind{"$project", parse_project},
    StageKind{"$addFields", parse_add_fields},
    StageKind{"$set", parse_add_fields},
    StageKind{"$unset", parse_unset},
    StageKind{"$replaceRoot", parse_replace_root},
    StageKind{"$replaceWith", parse_replace_with},
    StageKind{"$redact", parse_redact},
};

}  // namespace

std::span<const StageKind> shape_stages() {
  return kShapeStages;
}

}  // namespace orrery::mongo
