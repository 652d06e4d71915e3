// Stages that read more than their input: $lookup, $graphLookup, $unionWith; and $facet.
#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "api/mongo/bson/stable_order.h"
#include "api/mongo/pipeline/stage.h"

namespace orrery::mongo {
namespace {

// A run for an inner pipeline: the same but its variables.
Run inner_run(const Run& run) {
  Run inner(run.evaluation.budget);
  inner.evaluation.now = run.evaluation.now;
  inner.evaluation.cluster_time = run.evaluation.cluster_time;
  inner.evaluation.variables = run.evaluation.variables;
  inner.evaluation.collation = run.evaluation.collation;
  inner.collections = run.collections;
  inner.database = run.database;
  inner.memory_limit = run.memory_limit;
  return inner;
}

PipelineContext inner_context(const StageParser& parser) {
  PipelineContext inner = parser.context;
  inner.is_nested = true;
  inner.is_update = false;
  ++inner.depth;
  return inner;
}

Answer<SourcePtr> read(const std::string& collection, const Pipeline& pipeline, Run& run) {
  if (pipeline.makes_documents()) return pipeline.open(make_source({}), run);
  if (run.collections == nullptr) {
    return refuse(kIllegalOperation, "other collections cannot be read here");
  }
  return run.collections->read(run.database, collection, pipeline, run);
}

// What is equal to one of the values, at the path.
Value equality_filter(const std::string& path, const std::vector<Value>& values) {
  std::vector<Value> branches;
  for (const Value& value : values) {
    branches.push_back(stage_spec(path, stage_spec("$eq", value)));
  }
  if (branches.size() == 1) return branches.front();
  const bool has_regex =
      std::ranges::any_of(values, [](const Value& value) { return value.type() == Type::regex; });
  if (has_regex) return stage_spec("$or", Value::make_array(std::move(branches)));
  return stage_spec(path, stage_spec("$in", Value::make_array(values)));
}

// The values that a local field joins by: of an array its elements, of what is missing null.
std::vector<Value> join_values(const Value& value) {
  if (value.is_undefined()) return {Value::make_null()};
  if (!value.is_array()) return {value};
  std::vector<Value> values;
  for (const Value& element : value.elements()) values.push_back(element);
  return values;
}

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
      auto source = read(options_.from, *pipeline, inner);
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

class UnionStage : public Stage {
 public:
  UnionStage(std::string collection, std::shared_ptr<const Pipeline> pipeline)
      : collection_(std::move(collection)), pipeline_(std::move(pipeline)) {}
  Answer<SourcePtr> open(SourcePtr input, Run&) const override {
    return std::make_unique<Both>(*this, std::move(input));
  }

 private:
  class Both : public Source {
   public:
    Both(const UnionStage& stage, SourcePtr input) : stage_(stage), input_(std::move(input)) {}
    Document next(Run& run) override {
      if (input_) {
        auto document = input_->next(run);
        if (!document || *document) return document;
        input_.reset();
        inner_ = std::make_unique<Run>(inner_run(run));
        auto opened = read(stage_.collection_, *stage_.pipeline_, *inner_);
        if (!opened) return pass(std::move(opened.error()));
        other_ = std::move(*opened);
      }
      return other_ ? other_->next(*inner_) : Document(std::nullopt);
    }

   private:
    const UnionStage& stage_;
    SourcePtr input_;
    std::unique_ptr<Run> inner_;
    SourcePtr other_;
  };

  std::string collection_;
  std::shared_ptr<const Pipeline> pipeline_;
};

Answer<StagePtr> parse_union(std::string_view, const Value& spec, StageParser& parser) {
  Value collection = spec;
  Value stages = Value::make_array({});
  if (spec.is_object()) {
    collection = {};
    for (const auto& [name, member] : spec.members()) {
      if (name == "coll") {
        collection = member;
      } else if (name == "pipeline") {
        stages = member;
      } else {
        return refuse(40415, fmt::format("BSON field '$unionWith.{}' is an unknown field.", name));
      }
    }
  } else if (!spec.is_string()) {
    return refuse(kFailedToParse,
                  fmt::format("the $unionWith stage specification must be an object "
                              "or string, but found {}",
                              type_name(spec)));
  }
  auto pipeline = Pipeline::parse(stages, inner_context(parser));
  if (!pipeline) return pass(std::move(pipeline.error()));
  if (!collection.is_undefined() && (!collection.is_string() || collection.text().empty())) {
    return refuse(kTypeMismatch, "$unionWith's 'coll' must be a string that is not empty");
  }
  if (collection.is_undefined() && !pipeline->makes_documents()) {
    return refuse(kFailedToParse,
                  "$unionWith stage without explicit collection must have a pipeline "
                  "with $documents as first stage");
  }
  std::string name(collection.is_string() ? collection.text() : std::string_view());
  if (!name.empty()) parser.reads.push_back(name);
  for (const std::string& other : pipeline->reads()) parser.reads.push_back(other);
  return std::make_shared<UnionStage>(std::move(name),
                                      std::make_shared<const Pipeline>(std::move(*pipeline)));
}

class FacetStage : public GatherStage {
 public:
  struct Facet {
    std::string name;
    Pipeline pipeline;
  };
  explicit FacetStage(std::vector<Facet> facets) : facets_(std::move(facets)) {}
  Answer<std::vector<Value>> gather(Source& input, Run& run) const override {
    Kept kept;
    auto documents = read_all(input, run, kept);
    if (!documents) return documents;
    std::vector<Value::Field> fields;
    for (const Facet& facet : facets_) {
      auto source = facet.pipeline.open(make_source(*documents), run);
      if (!source) return pass(std::move(source.error()));
      Kept own;
      auto found = read_all(**source, run, own);
      if (!found) return found;
      fields.push_back(field(facet.name, Value::make_array(std::move(*found))));
    }
    return std::vector<Value>{Value::make_object(std::move(fields))};
  }

 private:
  std::vector<Facet> facets_;
};

Answer<StagePtr> parse_facet(std::string_view name, const Value& spec, StageParser& parser) {
  if (!spec.is_object() || spec.size() == 0) {
    return refuse(40169, "the $facet specification must be a non-empty object");
  }
  if (parser.context.is_in_facet) {
    return refuse(40600, "$facet is not allowed to be used within a $facet stage");
  }
  PipelineContext inner = inner_context(parser);
  inner.is_in_facet = true;
  std::vector<FacetStage::Facet> facets;
  for (const auto& [facet, stages] : spec.members()) {
    if (auto checked = check_field_name(name, facet); !checked)
      return pass(std::move(checked.error()));
    if (!stages.is_array()) {
      return refuse(40170, fmt::format("arguments to $facet must be arrays, {} is type {}", facet,
                                       type_name(stages)));
    }
    auto pipeline = Pipeline::parse(stages, inner);
    if (!pipeline) return pass(std::move(pipeline.error()));
    if (pipeline->makes_documents()) {
      return refuse(40600, "$documents is not allowed to be used within a $facet stage");
    }
    for (const std::string& other : pipeline->reads()) parser.reads.push_back(other);
    facets.push_back({.name = std::string(facet), .pipeline = std::move(*pipeline)});
  }
  return std::make_shared<FacetStage>(std::move(facets));
}

struct GraphOptions {
  std::string from = {};
  std::optional<Expression> start = std::nullopt;
  std::vector<std::string> connect_from = {};
  std::string connect_to = {};
  std::vector<std::string> as = {};
  std::optional<int64_t> max_depth = std::nullopt;
  std::optional<std::vector<std::string>> depth_field = std::nullopt;
  Value restrict = {};
  PipelineContext context = {};
};

class GraphStage : public MapStage {
 public:
  explicit GraphStage(GraphOptions options) : options_(std::move(options)) {}
  Document map(const Value& document, Run& run) const override {
    auto start = options_.start->evaluate(run.evaluation, document);
    if (!start) return pass(std::move(start.error()));
    const Collation* const collation = run.evaluation.collation;
    using Set = std::unordered_set<Value, ValueHash, ValueEqual>;
    Set asked(16, ValueHash{collation}, ValueEqual{collation});
    // Documents whose _id only a collation takes for the same are several.
    Set seen(16, ValueHash{}, ValueEqual{});
    std::vector<Value> found;
    Kept kept;
    std::vector<Value> frontier =
        start->is_undefined() ? std::vector<Value>() : join_values(*start);
    for (int64_t depth = 0; !frontier.empty(); ++depth) {
      if (options_.max_depth && depth > *options_.max_depth) break;
      std::vector<Value> wanted;
      for (const Value& value : frontier) {
        if (asked.insert(value.to_owned()).second) wanted.push_back(value);
      }
      frontier.clear();
      if (wanted.empty()) break;
      auto level = find(wanted, run, kept);
      if (!level) return pass(std::move(level.error()));
      for (const Value& node : *level) {
        if (!seen.insert(node.find("_id")).second) continue;
        found.push_back(
            options_.depth_field ? set_path(node, *options_.depth_field, make_int64(depth)) : node);
        const Value next = path_value(node, options_.connect_from);
        if (next.is_undefined()) continue;
        for (const Value& value : join_values(next)) frontier.push_back(value);
      }
    }
    // No order is promised; by _id it is the same each time.
    sort_stably(found, [](const Value& a, const Value& b) {
      return compare(a.find("_id"), b.find("_id"), nullptr) < 0;
    });
    return std::optional(set_path(document, options_.as, Value::make_array(std::move(found))));
  }

 private:
  Answer<std::vector<Value>> find(const std::vector<Value>& wanted, Run& run, Kept& kept) const {
    std::vector<Value> stages;
    stages.push_back(stage_spec("$match", equality_filter(options_.connect_to, wanted)));
    if (!options_.restrict.is_undefined())
      stages.push_back(stage_spec("$match", options_.restrict));
    auto pipeline = Pipeline::parse(Value::make_array(std::move(stages)), options_.context);
    if (!pipeline) return pass(std::move(pipeline.error()));
    Run inner = inner_run(run);
    auto source = read(options_.from, *pipeline, inner);
    if (!source) return pass(std::move(source.error()));
    return read_all(**source, inner, kept);
  }

  GraphOptions options_;
};

Answer<StagePtr> parse_graph(std::string_view name, const Value& spec, StageParser& parser) {
  if (!spec.is_object()) {
    return refuse(kFailedToParse, "the $graphLookup stage specification must be an object");
  }
  GraphOptions options;
  options.context = inner_context(parser);
  for (const auto& [option, given] : spec.members()) {
    if (option == "startWith") {
      auto start = Expression::parse(given, parser.context.expressions);
      if (!start) return pass(std::move(start.error()));
      options.start = std::move(*start);
    } else if (option == "maxDepth") {
      const auto depth = exact_integer(given);
      if (!given.is_number()) return refuse(40100, "maxDepth must be numeric");
      if (!depth || *depth < 0) return refuse(40101, "maxDepth requires a nonnegative argument");
      options.max_depth = depth;
    } else if (option == "restrictSearchWithMatch") {
      if (!given.is_object()) return refuse(40185, "restrictSearchWithMatch must be an object");
      options.restrict = given.to_owned();
    } else if (option == "from" || option == "as" || option == "connectFromField" ||
               option == "connectToField" || option == "depthField") {
      if (!given.is_string()) {
        return refuse(40103, fmt::format("expected string as argument for {}, found: {}", option,
                                         type_name(given)));
      }
      if (option == "from") {
        options.from = given.text();
        continue;
      }
      auto steps = parse_path(given.text());
      if (!steps) return pass(std::move(steps.error()));
      if (option == "as")
        options.as = std::move(*steps);
      else if (option == "connectFromField")
        options.connect_from = std::move(*steps);
      else if (option == "depthField")
        options.depth_field = std::move(*steps);
      else
        options.connect_to = given.text();
    } else {
      return refuse(40104, fmt::format("Unknown argument to $graphLookup: {}", option));
    }
  }
  if (options.from.empty() || options.as.empty() || options.connect_from.empty() ||
      options.connect_to.empty() || !options.start) {
    return refuse(40105,
                  fmt::format("{} requires 'from', 'as', 'startWith', 'connectFromField', and "
                              "'connectToField' to be specified.",
                              name));
  }
  if (!options.restrict.is_undefined()) {
    auto checked = Pipeline::parse(Value::make_array({stage_spec("$match", options.restrict)}),
                                   options.context);
    if (!checked) return pass(std::move(checked.error()));
  }
  parser.reads.push_back(options.from);
  return std::make_shared<GraphStage>(std::move(options));
}

constexpr std::array kStages = {
    StageKind{"$lookup", parse_lookup},
    StageKind{"$graphLookup", parse_graph},
    StageKind{"$unionWith", parse_union},
    StageKind{"$facet", parse_facet},
};

}  // namespace

std::span<const StageKind> join_stages() {
  return kStages;
}

}  // namespace orrery::mongo
