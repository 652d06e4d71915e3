// Stages that read more than their input: $graphLookup, $unionWith, and $lookup (lookup_stage.cc);
// and $facet.
#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "api/mongo/bson/stable_order.h"
#include "api/mongo/pipeline/inner_pipeline.h"

namespace orrery::mongo {
namespace {

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
        auto opened = read_collection(stage_.collection_, *stage_.pipeline_, *inner_);
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
    auto source = read_collection(options_.from, *pipeline, inner);
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

constexpr std::array kJoinStages = {
    StageKind{"$lookup", parse_lookup},
    StageKind{"$graphLookup", parse_graph},
    StageKind{"$unionWith", parse_union},
    StageKind{"$facet", parse_facet},
};

}  // namespace

std::span<const StageKind> join_stages() {
  return kJoinStages;
}

}  // namespace orrery::mongo
