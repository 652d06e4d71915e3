// See pipeline.h.
#include "api/mongo/pipeline/pipeline.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "api/mongo/pipeline/geo_near.h"
#include "api/mongo/pipeline/group_inputs.h"
#include "api/mongo/pipeline/output.h"
#include "api/mongo/pipeline/stage.h"

namespace orrery::mongo {
namespace {

constexpr int kMaxPipelineDepth = 20;
constexpr size_t kMaxBetweenStages = size_t{64} << 20;

// Stages that the caller makes the documents of.
constexpr std::array<std::string_view, 9> kOutside = {"$collStats",
                                                      "$indexStats",
                                                      "$listSessions",
                                                      "$listLocalSessions",
                                                      "$currentOp",
                                                      "$changeStream",
                                                      "$planCacheStats",
                                                      "$changeStreamSplitLargeEvent",
                                                      "$shardedDataDistribution"};
// Known, and not there.
constexpr std::array<std::string_view, 6> kNotThere = {
    "$search", "$searchMeta", "$vectorSearch", "$queryStats", "$listSearchIndexes", "$rankFusion"};

const std::map<std::string_view, const StageKind*>& all_stages() {
  static const auto stages = [] {
    std::map<std::string_view, const StageKind*> made;
    for (const auto& kinds : {shape_stages(), flow_stages(), group_stages(), bucket_stages(),
                              join_stages(), window_stages(), densify_stages()}) {
      for (const StageKind& kind : kinds) made[kind.name] = &kind;
    }
    return made;
  }();
  return stages;
}

Answer<Value::Member> only_member(const Value& stage) {
  if (!stage.is_object()) {
    return refuse(kTypeMismatch, "Each element of the 'pipeline' array must be an object");
  }
  if (stage.size() != 1) {
    return refuse(40323, "A pipeline stage specification object must contain exactly one field.");
  }
  return *stage.members().begin();
}

class VectorSource : public Source {
 public:
  explicit VectorSource(std::vector<Value> documents) : documents_(std::move(documents)) {}
  Document next(Run& run) override {
    if (at_ == documents_.size()) return std::nullopt;
    if (run.evaluation.budget.spend(1)) return run.evaluation.over();
    // Given away, so that what is done with needs no memory.
    return std::optional(std::move(documents_[at_++]));
  }

 private:
  std::vector<Value> documents_;
  size_t at_ = 0;
};

// Documents share their parts, so that few bytes can stand for very many.
Document within_bounds(Document document) {
  if (document && *document && (*document)->written_bytes() > kMaxBetweenStages) [[unlikely]] {
    return refuse(
        10334, fmt::format("a document between stages is larger than {} bytes", kMaxBetweenStages));
  }
  return document;
}

class MapSource : public Source {
 public:
  MapSource(const MapStage& stage, SourcePtr input) : stage_(stage), input_(std::move(input)) {}
  Document next(Run& run) override {
    for (;;) {
      auto document = input_->next(run);
      if (!document || !*document) return document;
      if (run.evaluation.budget.spend(1)) return run.evaluation.over();
      auto mapped = stage_.map(**document, run);
      if (!mapped || *mapped) return within_bounds(std::move(mapped));
    }
  }

 private:
  const MapStage& stage_;
  SourcePtr input_;
};

class GatherSource : public Source {
 public:
  GatherSource(const GatherStage& stage, SourcePtr input)
      : stage_(stage), input_(std::move(input)) {}
  Document next(Run& run) override {
    if (input_) {
      auto documents = stage_.gather(*input_, run);
      input_.reset();
      if (!documents) return pass(std::move(documents.error()));
      output_ = make_source(std::move(*documents));
    }
    return output_ ? within_bounds(output_->next(run)) : Document(std::nullopt);
  }

 private:
  const GatherStage& stage_;
  SourcePtr input_;
  SourcePtr output_;
};

class ChainStage : public Stage {
 public:
  explicit ChainStage(std::vector<StagePtr> stages) : stages_(std::move(stages)) {}
  Answer<SourcePtr> open(SourcePtr input, Run& run) const override {
    for (const StagePtr& stage : stages_) {
      auto opened = stage->open(std::move(input), run);
      if (!opened) return opened;
      input = std::move(*opened);
    }
    return input;
  }

 private:
  std::vector<StagePtr> stages_;
};

// `made` is what the first of `stages` were parsed as.
Leading leading_of(const Value& stages, const std::vector<StagePtr>& made) {
  Leading leading;
  size_t next = 0;
  while (next < made.size() && filter_of(*made[next]) != nullptr) {
    leading.filters.push_back(*filter_of(*made[next++]));
  }
  leading.match_stages = next;
  if (next < made.size()) leading.fields = inputs_of(stages.at(next));
  if (next < made.size() && sort_of(*made[next]) != nullptr) leading.sort = *sort_of(*made[next++]);
  if (next < made.size() && (leading.skip = skip_of(*made[next]))) ++next;
  if (next < made.size() && (leading.limit = limit_of(*made[next]))) ++next;
  leading.stages = next;
  return leading;
}

}  // namespace

std::unique_ptr<Source> make_source(std::vector<Value> documents) {
  return std::make_unique<VectorSource>(std::move(documents));
}

Answer<SourcePtr> MapStage::open(SourcePtr input, Run&) const {
  return std::make_unique<MapSource>(*this, std::move(input));
}

Answer<SourcePtr> GatherStage::open(SourcePtr input, Run&) const {
  return std::make_unique<GatherSource>(*this, std::move(input));
}

Answer<StagePtr> chain_of(std::vector<StagePtr> stages) {
  return std::make_shared<ChainStage>(std::move(stages));
}

Value stage_spec(std::string_view name, Value spec) {
  std::vector<Value::Field> fields;
  fields.push_back(field(name, std::move(spec)));
  return Value::make_object(std::move(fields));
}

Answer<void> Kept::add(size_t bytes, Run& run) {
  bytes_ += bytes;
  if (bytes_ > run.memory_limit) {
    return refuse(kQueryExceededMemory,
                  fmt::format("a stage needs more than the {} bytes of memory that it may have",
                              run.memory_limit));
  }
  if (run.evaluation.budget.spend_bytes(bytes)) return run.evaluation.over();
  return {};
}

Answer<std::vector<Value>> read_all(Source& input, Run& run, Kept& kept) {
  std::vector<Value> documents;
  for (;;) {
    auto document = input.next(run);
    if (!document) return pass(std::move(document.error()));
    if (!*document) return documents;
    if (auto room = kept.add((*document)->memory(), run); !room)
      return pass(std::move(room.error()));
    documents.push_back((*document)->to_owned());
  }
}

Value set_path(const Value& document, const std::vector<std::string>& steps, const Value& value,
               size_t at) {
  if (at == steps.size()) return value;
  const Value object = document.is_object() ? document : Value::make_object({});
  return with_member(object, steps[at], set_path(object.find(steps[at]), steps, value, at + 1));
}

Answer<void> check_field_name(std::string_view stage, std::string_view name) {
  if (name.empty()) return refuse(40352, fmt::format("{}: a field's name may not be empty", stage));
  if (name.starts_with('$')) {
    return refuse(40236,
                  fmt::format("{}: the field name '{}' cannot be an operator name", stage, name));
  }
  if (name.find('.') != std::string_view::npos) {
    return refuse(40235, fmt::format("{}: the field name '{}' cannot contain '.'", stage, name));
  }
  return {};
}

Answer<StagePtr> parse_stage(const Value& stage, StageParser& parser) {
  auto member = only_member(stage);
  if (!member) return pass(std::move(member.error()));
  const std::string_view name = member->name;
  if (std::ranges::find(kNotThere, name) != kNotThere.end()) {
    return refuse(kNotImplemented, fmt::format("{} is not supported", name));
  }
  const auto found = all_stages().find(name);
  if (found == all_stages().end()) {
    return refuse(40324, fmt::format("Unrecognized pipeline stage name: '{}'", name));
  }
  return found->second->parse(found->second->name, member->value, parser);
}

Answer<Pipeline> Pipeline::parse(const Value& stages, const PipelineContext& context) {
  if (!stages.is_array()) {
    return refuse(kTypeMismatch, "'pipeline' option must be specified as an array");
  }
  if (stages.size() > kMaxStages) {
    return refuse(7749501,
                  fmt::format("Pipeline length must be no longer than {} stages", kMaxStages));
  }
  if (context.depth > kMaxPipelineDepth) {
    return refuse(5832500,
                  fmt::format("Maximum number of nested sub-pipelines exceeded. Limit is {}",
                              kMaxPipelineDepth));
  }
  Pipeline pipeline;
  StageParser parser{.context = context, .reads = pipeline.reads_};
  size_t at = 0;
  for (const Value& spec : stages.elements()) {
    auto member = only_member(spec);
    if (!member) return pass(std::move(member.error()));
    const std::string_view name = member->name;
    const bool is_first = at++ == 0;
    if (std::ranges::find(kOutside, name) != kOutside.end()) {
      if (!is_first || context.is_nested) {
        return refuse(40602,
                      fmt::format("{} is only valid as the first stage in a pipeline", name));
      }
      pipeline.outside_ = OutsideStage{.name = std::string(name), .spec = member->value.to_owned()};
      continue;
    }
    if (name == "$out" || name == "$merge") {
      if (at != stages.size()) {
        return refuse(40601, fmt::format("{} can only be the final stage in the pipeline", name));
      }
      if (context.is_nested || context.is_update) {
        return refuse(51047, fmt::format("{} is not allowed within a nested pipeline", name));
      }
      auto output = parse_output(name, member->value, parser);
      if (!output) return pass(std::move(output.error()));
      pipeline.output_ = std::move(*output);
      continue;
    }
    if (name == "$geoNear") {
      if (context.is_in_facet) {
        return refuse(40600, "$geoNear is not allowed to be used within a $facet stage");
      }
      if (!is_first) {
        return refuse(40603, "$geoNear was not the first stage in the pipeline");
      }
      auto near = parse_geo_near(member->value);
      if (!near) return pass(std::move(near.error()));
      pipeline.geo_near_ = std::move(*near);
      continue;
    }
    if (name == "$documents") {
      if (!is_first) {
        return refuse(40602, "$documents is only valid as the first stage in a pipeline");
      }
      pipeline.makes_documents_ = true;
    }
    auto stage = parse_stage(spec, parser);
    if (!stage) return pass(std::move(stage.error()));
    if (context.is_update && !(*stage)->is_for_updates()) {
      return refuse(kInvalidOptions,
                    fmt::format("{} is not allowed to be used within an update", name));
    }
    pipeline.stages_.push_back(std::move(*stage));
  }
  // A sort in front of a limit keeps only what comes out.
  for (size_t i = 0; i + 1 < pipeline.stages_.size(); ++i) {
    const auto limit = limit_of(*pipeline.stages_[i + 1]);
    if (limit && sort_of(*pipeline.stages_[i]) != nullptr) {
      pipeline.stages_[i] = limited_sort(pipeline.stages_[i], *limit);
    }
  }
  if (pipeline.outside_ || pipeline.makes_documents_ || pipeline.geo_near_) return pipeline;
  pipeline.leading_ = leading_of(stages, pipeline.stages_);
  return pipeline;
}

Answer<SourcePtr> Pipeline::open(SourcePtr input, Run& run, size_t skipped) const {
  for (size_t i = skipped; i < stages_.size(); ++i) {
    auto opened = stages_[i]->open(std::move(input), run);
    if (!opened) return opened;
    input = std::move(*opened);
  }
  return input;
}

Answer<Value> Pipeline::apply(const Value& document, Run& run) const {
  auto source = open(make_source({document}), run);
  if (!source) return pass(std::move(source.error()));
  auto result = (*source)->next(run);
  if (!result) return pass(std::move(result.error()));
  if (!*result) return refuse(kInternalError, "a pipeline of an update gave no document");
  return std::move(**result);
}

}  // namespace orrery::mongo
