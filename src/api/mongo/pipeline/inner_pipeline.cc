// See inner_pipeline.h.
#include "api/mongo/pipeline/inner_pipeline.h"

#include <algorithm>

namespace orrery::mongo {

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

Answer<SourcePtr> read_collection(const std::string& collection, const Pipeline& pipeline,
                                  Run& run) {
  if (pipeline.makes_documents()) return pipeline.open(make_source({}), run);
  if (run.collections == nullptr) {
    return refuse(kIllegalOperation, "other collections cannot be read here");
  }
  return run.collections->read(run.database, collection, pipeline, run);
}

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

std::vector<Value> join_values(const Value& value) {
  if (value.is_undefined()) return {Value::make_null()};
  if (!value.is_array()) return {value};
  std::vector<Value> values;
  for (const Value& element : value.elements()) values.push_back(element);
  return values;
}

}  // namespace orrery::mongo
