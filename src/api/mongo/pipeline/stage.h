// What stages are made with: the table of their names, and what most of them need. Private to this
// folder.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/mongo/bson/numbers.h"
#include "api/mongo/bson/types.h"
#include "api/mongo/pipeline/pipeline.h"

namespace orrery::mongo {

using StagePtr = std::shared_ptr<const Stage>;
using SourcePtr = std::unique_ptr<Source>;
using Document = Answer<std::optional<Value>>;

struct StageParser {
  const PipelineContext& context;
  std::vector<std::string>& reads;  // collections that the pipeline reads
};

struct StageKind {
  std::string_view name;
  Answer<StagePtr> (*parse)(std::string_view name, const Value& spec, StageParser& parser);
};
std::span<const StageKind> shape_stages();
std::span<const StageKind> flow_stages();
std::span<const StageKind> group_stages();
std::span<const StageKind> bucket_stages();
std::span<const StageKind> join_stages();
std::span<const StageKind> window_stages();
std::span<const StageKind> densify_stages();

// A stage that changes or drops one document at a time.
class MapStage : public Stage {
 public:
  virtual Document map(const Value& document, Run& run) const = 0;
  Answer<SourcePtr> open(SourcePtr input, Run& run) const override;
};

// A stage that needs all documents before it gives the first.
class GatherStage : public Stage {
 public:
  virtual Answer<std::vector<Value>> gather(Source& input, Run& run) const = 0;
  Answer<SourcePtr> open(SourcePtr input, Run& run) const override;
};

// Bytes that a stage keeps, within the run's limit.
class Kept {
 public:
  Answer<void> add(size_t bytes, Run& run);

 private:
  size_t bytes_ = 0;
};
// All documents of a source.
Answer<std::vector<Value>> read_all(Source& input, Run& run, Kept& kept);

// The whole sort key of $sort, as SortKey has it; and documents sorted by it. `limit`: so many of
// the first are wanted.
class SortKey;
Answer<std::vector<Value>> sort_documents(std::vector<Value> documents, const SortKey& key,
                                          Run& run, std::optional<size_t> limit = std::nullopt);

// The document with the value at the path, objects made on the way.
Value set_path(const Value& document, const std::vector<std::string>& steps, const Value& value,
               size_t at = 0);
// A member's name: no $ in front, no dots.
Answer<void> check_field_name(std::string_view stage, std::string_view name);

// A stage made of others, one behind the other.
Answer<StagePtr> chain_of(std::vector<StagePtr> stages);
Answer<StagePtr> parse_stage(const Value& stage, StageParser& parser);
// {$name: spec}
Value stage_spec(std::string_view name, Value spec);

// What the parser of pipelines asks of the stages that may lead one.
const Value* filter_of(const Stage& stage);
const Value* sort_of(const Stage& stage);
std::optional<int64_t> skip_of(const Stage& stage);
std::optional<int64_t> limit_of(const Stage& stage);
// The same sort that gives only the first documents.
StagePtr limited_sort(const StagePtr& sort, int64_t limit);

}  // namespace orrery::mongo
