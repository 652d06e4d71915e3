// $lookup: the documents of another collection that belong to each, by equal fields, by a pipeline,
// or by both.
#include <algorithm>

#include <fmt/format.h>

#include "api/mongo/pipeline/inner_pipeline.h"

namespace orrery::mongo {
namespace {

struct LookupOptions {
  std::string from = {};
  std::vector<std::string> as = {};
  std::optional<std::vector<std::string>> local = std::nullopt;
  std::string foreign = {};
  std::vector<Expression> let = {};
  size_t first_slot = 0;
  std::vector<Value> stages = {};  // of the given pipeline
  PipelineContext context = {};
  std::shared_ptr<const Pipeline> pipeline = nullptr;  // parsed once, where nothing is joined by
};

class LookupStage : public MapStage {
 public:
  explicit LookupStage(LookupOptions options) : options_(std::move(options)) {}
  Document map(const Value& document, Run& run) const override {
    Run inner = inner_run(run);
    auto& variables = inner.evaluation.variables;
    variables.resize(options_.first_slot);
    for (const Expression& expression : options_.let) {
      auto value = expression.evaluate(run.evaluation, document);
      if (!value) return pass(std::move(value.error()));
      variables.push_back(std::move(*value));
    }
    std::vector<Value> found;
    Kept kept;
    std::shared_ptr<const Pipeline> pipeline = options_.pipeline;
    bool is_empty = false;
    if (options_.local) {
      const auto values = join_values(path_value(document, *options_.local));
      is_empty = values.empty();
      if (!is_empty) {
        std::vector<Value> stages = options_.stages;
        // Behind the stage that makes the documents, where one does.
        const std::ptrdiff_t place = options_.pipeline->makes_documents() ? 1 : 0;
        stages.insert(stages.begin() + place,
                      stage_spec("$match", equality_filter(options_.foreign, values)));
        auto parsed = Pipeline::parse(Value::make_array(std::move(stages)), options_.context);
        if (!parsed) return pass(std::move(parsed.error()));
        pipeline = std::make_shared<const Pipeline>(std::move(*parsed));
      }
    }
    if (!is_empty) {
      auto source = read_collection(options_.from, *pipeline, inner);
      if (!source) return pass(std::move(source.error()));
      auto all = read_all(**source, inner, kept);
      if (!all) return pass(std::move(all.error()));
      found = std::move(*all);
    }
    return std::optional(set_path(document, options_.as, Value::make_array(std::move(found))));
  }

 private:
  LookupOptions options_;
};

Answer<std::vector<std::string>> parse_as(std::string_view name, const Value& as) {
  if (!as.is_string()) {
    return refuse(kFailedToParse,
                  fmt::format("{} argument 'as' must be a string, but is {}", name, type_name(as)));
  }
  return parse_path(as.text());
}

// The members of a $lookup as they were given.
struct LookupSpec {
  Value from = {};
  Value pipeline = {};
  Value let = {};
  Value local = {};
  Value foreign = {};
  Value as = {};
};

Answer<LookupSpec> take_lookup_members(const Value& spec) {
  if (!spec.is_object()) {
    return refuse(kFailedToParse, fmt::format("the $lookup stage specification must be an object, "
                                              "but found {}",
                                              type_name(spec)));
  }
  LookupSpec given;
  const std::array<std::pair<std::string_view, Value*>, 6> known = {
      {{"from", &given.from},
       {"pipeline", &given.pipeline},
       {"let", &given.let},
       {"localField", &given.local},
       {"foreignField", &given.foreign},
       {"as", &given.as}}};
  for (const auto& [option, value] : spec.members()) {
    const auto* const found =
        std::ranges::find(known, option, [](const auto& one) { return one.first; });
    if (found == known.end()) {
      return refuse(kFailedToParse, fmt::format("unknown argument to $lookup: {}", option));
    }
    *found->second = value;
  }
  if (given.as.is_undefined()) {
    return refuse(kFailedToParse, "must specify 'as' field for a $lookup");
  }
  if (!given.from.is_undefined() && !given.from.is_string()) {
    return refuse(kFailedToParse, fmt::format("$lookup argument 'from' must be a string, but is {}",
                                              type_name(given.from)));
  }
  if (given.local.is_undefined() != given.foreign.is_undefined() ||
      (given.local.is_undefined() && given.pipeline.is_undefined())) {
    return refuse(kFailedToParse,
                  "$lookup requires either 'pipeline' or both 'localField' and "
                  "'foreignField' to be specified");
  }
  return given;
}

Answer<void> set_join_fields(const LookupSpec& given, LookupOptions& options) {
  if (given.local.is_undefined()) return {};
  if (!given.local.is_string() || !given.foreign.is_string()) {
    return refuse(kFailedToParse, "$lookup's 'localField' and 'foreignField' must be strings");
  }
  auto steps = parse_path(given.local.text());
  if (!steps) return pass(std::move(steps.error()));
  options.local = std::move(*steps);
  if (auto path = parse_path(given.foreign.text()); !path) return pass(std::move(path.error()));
  options.foreign = given.foreign.text();
  return {};
}

// Variables of the given pipeline, computed from the document that is joined.
Answer<void> set_variables(const LookupSpec& given, const ParseContext& outer,
                           LookupOptions& options) {
  if (given.let.is_undefined()) return {};
  if (!given.let.is_object()) {
    return refuse(kFailedToParse, fmt::format("$lookup argument 'let' must be an object, but is {}",
                                              type_name(given.let)));
  }
  if (given.pipeline.is_undefined()) {
    return refuse(kFailedToParse, "$lookup with 'let' needs a 'pipeline'");
  }
  for (const auto& [variable, value] : given.let.members()) {
    if (auto checked = check_variable_name(variable); !checked) {
      return pass(std::move(checked.error()));
    }
    auto expression = Expression::parse(value, outer);
    if (!expression) return pass(std::move(expression.error()));
    options.let.push_back(std::move(*expression));
    options.context.expressions.variables.emplace_back(variable);
  }
  return {};
}

Answer<void> set_pipeline(const LookupSpec& given, StageParser& parser, LookupOptions& options) {
  if (!given.pipeline.is_undefined() && !given.pipeline.is_array()) {
    return refuse(kTypeMismatch, "$lookup's 'pipeline' must be an array");
  }
  for (const Value& stage : given.pipeline.elements()) options.stages.push_back(stage.to_owned());
  auto parsed = Pipeline::parse(Value::make_array(options.stages), options.context);
  if (!parsed) return pass(std::move(parsed.error()));
  for (const std::string& other : parsed->reads()) parser.reads.push_back(other);
  if (options.from.empty() && !parsed->makes_documents()) {
    return refuse(kFailedToParse,
                  "$lookup needs 'from', or a pipeline that starts with $documents");
  }
  options.pipeline = std::make_shared<const Pipeline>(std::move(*parsed));
  return {};
}

}  // namespace

Answer<StagePtr> parse_lookup(std::string_view name, const Value& spec, StageParser& parser) {
  auto given = take_lookup_members(spec);
  if (!given) return pass(std::move(given.error()));
  LookupOptions options;
  options.context = inner_context(parser);
  options.first_slot = parser.context.expressions.variables.size();
  auto as_steps = parse_as(name, given->as);
  if (!as_steps) return pass(std::move(as_steps.error()));
  options.as = std::move(*as_steps);
  if (given->from.is_string()) {
    options.from = given->from.text();
    if (options.from.empty()) {
      return refuse(kInvalidNamespace, "$lookup's 'from' may not be empty");
    }
    parser.reads.push_back(options.from);
  }
  if (auto set = set_join_fields(*given, options); !set) return pass(std::move(set.error()));
  if (auto set = set_variables(*given, parser.context.expressions, options); !set) {
    return pass(std::move(set.error()));
  }
  if (auto set = set_pipeline(*given, parser, options); !set) return pass(std::move(set.error()));
  return std::make_shared<LookupStage>(std::move(options));
}

}  // namespace orrery::mongo
