// See update.h.
#include "api/mongo/update/update.h"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "api/mongo/bson/types.h"
#include "api/mongo/match/bounds.h"
#include "api/mongo/pipeline/pipeline.h"
#include "api/mongo/update/identity.h"
#include "api/mongo/update/operators.h"
#include "api/mongo/update/path.h"

namespace orrery::mongo {
namespace {

// One operator on one path.
struct Step {
  UpdatePath path;
  Modifier modifier;
  // Of $rename: where the value comes from. `modifier` is not used then.
  std::optional<UpdatePath> source = std::nullopt;
};

}  // namespace

struct Update::Plan {
  Kind kind = Kind::replacement;
  Value replacement;
  std::vector<Step> steps;  // in the order of their paths
  std::vector<ValueMatcher> filters;
  std::shared_ptr<const Collation> collation;
  std::optional<Pipeline> pipeline;
  std::vector<Value> constants;  // of the pipeline's variables
};

namespace {

using Plan = Update::Plan;

Answer<void> parse_array_filters(const UpdateOptions& options, Plan& plan) {
  const Value& filters = options.array_filters;
  if (filters.is_undefined()) return {};
  if (!filters.is_array()) return refuse(kTypeMismatch, "arrayFilters must be an array");
  for (const Value& filter : filters.elements()) {
    Answer<ValueMatcher> matcher = ValueMatcher::parse_array_filter(filter, options.match);
    if (!matcher) return pass(std::move(matcher.error()));
    if (std::ranges::find(plan.filters, matcher->name(), &ValueMatcher::name) !=
        plan.filters.end()) {
      return refuse(
          kFailedToParse,
          fmt::format("Found multiple array filters with the same top-level field name {}",
                      matcher->name()));
    }
    plan.filters.push_back(*std::move(matcher));
  }
  return {};
}

// Each path that names a filter has one, and each filter is named.
Answer<void> check_array_filters(const Plan& plan) {
  std::vector<bool> is_used(plan.filters.size());
  for (const Step& step : plan.steps) {
    for (const UpdatePath::Component& component : step.path.components()) {
      if (component.kind != UpdatePath::Kind::filtered) continue;
      const auto found = std::ranges::find(plan.filters, component.name, &ValueMatcher::name);
      if (found == plan.filters.end()) {
        return refuse(kBadValue,
                      fmt::format("No array filter found for identifier '{}' in path '{}'",
                                  component.name, step.path.text()));
      }
      is_used[static_cast<size_t>(found - plan.filters.begin())] = true;
    }
  }
  for (size_t i = 0; i < is_used.size(); ++i) {
    if (!is_used[i]) {
      return refuse(kFailedToParse,
                    fmt::format("The array filter for identifier '{}' was not used in the update",
                                plan.filters[i].name()));
    }
  }
  return {};
}

Answer<Step> parse_rename(std::string_view from, const Value& operand) {
  if (!operand.is_string()) {
    return refuse(kBadValue, fmt::format("The 'to' field for $rename must be a string: {}: {}",
                                         from, shown(operand)));
  }
  Answer<UpdatePath> source = UpdatePath::parse(from);
  if (!source) return pass(std::move(source.error()));
  Answer<UpdatePath> target = UpdatePath::parse(operand.text());
  if (!target) return pass(std::move(target.error()));
  if (!source->is_plain()) {
    return refuse(kBadValue,
                  fmt::format("The source field for $rename may not be dynamic: {}", from));
  }
  if (!target->is_plain()) {
    return refuse(kBadValue, fmt::format("The destination field for $rename may not be dynamic: {}",
                                         target->text()));
  }
  if (source->text() == target->text()) {
    return refuse(kBadValue,
                  fmt::format("The source and target field for $rename must differ: {}: {}", from,
                              shown(operand)));
  }
  if (!check_conflict(*source, *target)) {
    return refuse(
        kBadValue,
        fmt::format("The source and target field for $rename must not be on the same path: {}: {}",
                    from, shown(operand)));
  }
  return Step{.path = *std::move(target), .modifier = {}, .source = *std::move(source)};
}

Answer<Step> parse_step(const UpdateOperator& parser, std::string_view path, const Value& operand,
                        const MatchOptions& options) {
  Answer<UpdatePath> parsed = UpdatePath::parse(path);
  if (!parsed) return pass(std::move(parsed.error()));
  Answer<Modifier> modifier = parser.parse(path, operand, options);
  if (!modifier) return pass(std::move(modifier.error()));
  return Step{.path = *std::move(parsed), .modifier = *std::move(modifier)};
}

Answer<void> parse_operators(const Value& spec, const UpdateOptions& options, Plan& plan) {
  plan.kind = Update::Kind::operators;
  for (const auto& [name, fields] : spec.members()) {
    const UpdateOperator* const parser = find_update_operator(name);
    const bool is_rename = name == "$rename";
    if (parser == nullptr && !is_rename) {
      return refuse(kFailedToParse,
                    fmt::format("Unknown modifier: {}. Expected a valid update modifier or "
                                "pipeline-style update specified as an array",
                                name));
    }
    if (!fields.is_object()) {
      return refuse(kFailedToParse,
                    fmt::format("Modifiers operate on fields but we found type {} instead. For "
                                "example: {{$mod: {{<field>: ...}}}} not {{{}: {}}}",
                                type_name(fields), name, shown(fields)));
    }
    for (const auto& [path, operand] : fields.members()) {
      Answer<Step> step = is_rename ? parse_rename(path, operand)
                                    : parse_step(*parser, path, operand, options.match);
      if (!step) return pass(std::move(step.error()));
      plan.steps.push_back(*std::move(step));
    }
  }
  return {};
}

// No path may be, or be within, another one. In the order of paths only neighbours can conflict,
// but for elements of arrays that are named in several ways.
Answer<void> check_conflicts(const Plan& plan) {
  std::vector<const UpdatePath*> paths;
  for (const Step& step : plan.steps) {
    paths.push_back(&step.path);
    if (step.source.has_value()) paths.push_back(&*step.source);
  }
  std::ranges::sort(paths,
                    [](const UpdatePath* a, const UpdatePath* b) { return is_before(*a, *b); });
  for (size_t i = 1; i < paths.size(); ++i) {
    if (const Answer<void> fits = check_conflict(*paths[i - 1], *paths[i]); !fits) return fits;
  }
  return {};
}

Answer<void> parse_replacement(const Value& spec, Plan& plan) {
  for (const auto& [name, value] : spec.members()) {
    if (name.starts_with('$')) {
      return refuse(kDollarPrefixedFieldName,
                    fmt::format("The dollar ($) prefixed field '{}' in '{}' is not allowed in the "
                                "context of an update's replacement document. "
                                "Consider using an aggregation pipeline with $replaceWith.",
                                name, name));
    }
  }
  plan.kind = Update::Kind::replacement;
  plan.replacement = spec;
  return {};
}

Answer<void> parse_pipeline(const Value& spec, const UpdateOptions& options, Plan& plan) {
  plan.kind = Update::Kind::pipeline;
  if (!options.array_filters.is_undefined()) {
    return refuse(kFailedToParse, "arrayFilters may not be specified for pipeline-style updates");
  }
  PipelineContext context{.expressions = options.match.context, .is_update = true};
  if (!options.constants.is_undefined()) {
    Budget budget;
    Evaluation evaluation(budget);
    const size_t before = context.expressions.variables.size();
    evaluation.variables.resize(before);
    if (const Answer<void> defined =
            define_variables(options.constants, context.expressions, evaluation);
        !defined)
      return defined;
    plan.constants.assign(evaluation.variables.begin() + static_cast<ptrdiff_t>(before),
                          evaluation.variables.end());
  }
  Answer<Pipeline> pipeline = Pipeline::parse(spec, context);
  if (!pipeline) return pass(std::move(pipeline.error()));
  plan.pipeline = *std::move(pipeline);
  return {};
}

// --- applying

// What $rename takes: the value at a path that enters no arrays.
Answer<Value> value_to_rename(const Value& document, const UpdatePath& path) {
  Value value = document;
  const auto& components = path.components();
  for (size_t i = 0; i < components.size(); ++i) {
    if (value.is_array()) {
      return refuse(kBadValue, fmt::format("The source field cannot be an array element, '{}' in "
                                           "doc with _id: {} has an array field called '{}'",
                                           path.text(), shown(document.find("_id")),
                                           i == 0 ? std::string() : components[i - 1].name));
    }
    if (!value.is_object()) {
      return refuse(
          kPathNotViable,
          fmt::format("Cannot use the part ({}) of ({}) to traverse the element ({{{}: {}}})",
                      components[i].name, path.text(),
                      i == 0 ? std::string() : components[i - 1].name, shown(value)));
    }
    value = value.find(components[i].name);
    if (value.is_undefined()) break;
  }
  return value;
}

Answer<Value> apply_rename(const Value& document, const Step& step, UpdateState& state) {
  const Answer<Value> value = value_to_rename(document, *step.source);
  if (!value) return value;
  if (value->is_undefined()) return document;
  // The destination is no element of an array either.
  Value on_the_way = document;
  for (const UpdatePath::Component& component : step.path.components()) {
    if (on_the_way.is_array()) {
      return refuse(
          kBadValue,
          fmt::format("The destination field cannot be an array element, '{}' in doc with _id: {}",
                      step.path.text(), shown(document.find("_id"))));
    }
    on_the_way = on_the_way.find(component.name);
  }
  const Modifier unset{.apply = [](const Value&, UpdateState&) -> Answer<Value> { return Value(); },
                       .missing = Modifier::Missing::allow};
  const Modifier set{
      .apply = [&value](const Value&, UpdateState&) -> Answer<Value> { return *value; }};
  Answer<Value> without = step.source->apply(document, unset, state);
  if (!without) return without;
  return step.path.apply(*without, set, state);
}

Answer<Value> apply_steps(const Plan& plan, const Update::Target& target, Evaluation& evaluation) {
  UpdateState state{.evaluation = evaluation,
                    .filters = plan.filters,
                    .position = target.position,
                    .is_insert = target.is_insert,
                    .collation = plan.collation.get()};
  Value document = target.document;
  // What is between renames is applied together.
  std::vector<UpdatePath::Step> together;
  const auto apply_together = [&]() -> Answer<void> {
    Answer<Value> changed = UpdatePath::apply_all(document, together, state);
    if (!changed) return pass(std::move(changed.error()));
    document = *std::move(changed);
    together.clear();
    return {};
  };
  for (const Step& step : plan.steps) {
    if (step.modifier.only_on_insert && !target.is_insert) continue;
    if (!step.source.has_value()) {
      together.push_back({.path = &step.path, .modifier = &step.modifier});
      continue;
    }
    if (const Answer<void> done = apply_together(); !done) return pass(done.error());
    Answer<Value> renamed = apply_rename(document, step, state);
    if (!renamed) return renamed;
    document = *std::move(renamed);
  }
  if (const Answer<void> done = apply_together(); !done) return pass(done.error());
  return document;
}

Answer<Value> apply_pipeline(const Plan& plan, const Value& document, Evaluation& evaluation) {
  Run run(evaluation.budget);
  run.evaluation.now = evaluation.now;
  run.evaluation.cluster_time = evaluation.cluster_time;
  run.evaluation.collation = evaluation.collation;
  run.evaluation.variables = evaluation.variables;
  run.evaluation.variables.insert(run.evaluation.variables.end(), plan.constants.begin(),
                                  plan.constants.end());
  return plan.pipeline->apply(document, run);
}

// The document with its _id in front.
Value with_id_first(const Value& document, const Value& id) {
  std::vector<Value::Field> fields;
  fields.reserve(document.size() + 1);
  fields.push_back(field("_id", id));
  for (const auto& [name, value] : document.members()) {
    if (name != "_id") fields.push_back(field(name, value));
  }
  return Value::make_object(std::move(fields));
}

// An _id that is there stays. What replaces a whole document need not name it; operators may not
// remove it.
Answer<Value> keep_id(const Value& before, Value after, bool is_whole) {
  const Value old_id = before.find("_id");
  const Value new_id = after.find("_id");
  if (!old_id.is_undefined()) {
    const bool is_kept = new_id.is_undefined() ? is_whole : equals(old_id, new_id, nullptr);
    if (!is_kept) {
      return refuse(kImmutableField,
                    is_whole ? fmt::format("After applying the update, the (immutable) field '_id' "
                                           "was found to have been altered to _id: {}",
                                           shown(new_id))
                             : "Performing an update on the path '_id' would modify the immutable "
                               "field '_id'");
    }
  }
  const Value& id = old_id.is_undefined() ? new_id : old_id;
  if (id.is_undefined()) return after;
  bool is_in_place = identical(id, new_id);
  for (const auto& [name, value] : after.members()) {
    is_in_place = is_in_place && name == "_id";
    break;
  }
  return is_in_place ? after : with_id_first(after, id);
}

Answer<void> check_new_id(const Value& document) {
  const Value id = document.find("_id");
  if (id.is_array() || id.type() == value::Type::regex) {
    return refuse(kInvalidIdField,
                  fmt::format("The '_id' value cannot be of type {}", type_name(id)));
  }
  if (!id.is_object()) return {};
  for (const auto& [name, value] : id.members()) {
    if (name.starts_with('$') && name != "$ref" && name != "$id" && name != "$db") {
      return refuse(
          kDollarPrefixedFieldName,
          fmt::format(
              "_id fields may not contain '$'-prefixed fields: {} is not valid for storage.",
              name));
    }
  }
  return {};
}

}  // namespace

Answer<Update> Update::parse(const Value& spec, const UpdateOptions& options) {
  auto plan = std::make_shared<Plan>();
  plan->collation = options.match.collation;
  if (!spec.is_object() && !spec.is_array()) {
    return refuse(kFailedToParse, "Update argument must be either an object or an array");
  }
  const Value owned = spec.to_owned();
  if (owned.is_array()) {
    if (const Answer<void> done = parse_pipeline(owned, options, *plan); !done)
      return pass(done.error());
    return Update(std::move(plan));
  }
  if (!options.constants.is_undefined()) {
    return refuse(51198, "Constant values may only be specified for pipeline updates");
  }
  bool has_operators = false;
  for (const auto& [name, value] : owned.members()) {
    has_operators = name.starts_with('$');
    break;
  }
  if (const Answer<void> done = parse_array_filters(options, *plan); !done)
    return pass(done.error());
  const Answer<void> done =
      has_operators ? parse_operators(owned, options, *plan) : parse_replacement(owned, *plan);
  if (!done) return pass(done.error());
  if (const Answer<void> fits = check_array_filters(*plan); !fits) return pass(fits.error());
  if (const Answer<void> fits = check_conflicts(*plan); !fits) return pass(fits.error());
  std::ranges::sort(plan->steps,
                    [](const Step& a, const Step& b) { return is_before(a.path, b.path); });
  return Update(std::move(plan));
}

Update::Kind Update::kind() const {
  return plan_->kind;
}

Answer<Update::Outcome> Update::apply(const Target& target, Evaluation& evaluation) const {
  Answer<Value> changed;
  switch (plan_->kind) {
    case Kind::replacement:
      changed = plan_->replacement;
      break;
    case Kind::operators:
      changed = apply_steps(*plan_, target, evaluation);
      break;
    case Kind::pipeline:
      changed = apply_pipeline(*plan_, target.document, evaluation);
      break;
  }
  if (!changed) return pass(std::move(changed.error()));
  Answer<Value> document =
      keep_id(target.document, *std::move(changed), plan_->kind != Kind::operators);
  if (!document) return pass(std::move(document.error()));
  if (target.is_insert) {
    if (const Answer<void> fits = check_new_id(*document); !fits) return pass(fits.error());
  }
  const bool is_changed = !identical(target.document, *document);
  return Outcome{.document = *std::move(document), .is_changed = is_changed};
}

Answer<Value> Update::upsert(const Value& filter, Evaluation& evaluation) const {
  Answer<Value> seed =
      plan_->kind == Kind::replacement ? upsert_seed_of_replacement(filter) : upsert_seed(filter);
  if (!seed) return seed;
  Answer<Outcome> outcome = apply({.document = *std::move(seed), .is_insert = true}, evaluation);
  if (!outcome) return pass(std::move(outcome.error()));
  return std::move(outcome->document);
}

}  // namespace orrery::mongo
