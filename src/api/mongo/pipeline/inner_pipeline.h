// Pipelines inside of stages, and what joins with another collection have in common. Private to
// this folder.
#pragma once

#include <string>
#include <vector>

#include "api/mongo/pipeline/stage.h"

namespace orrery::mongo {

// A run for an inner pipeline: the same but its variables.
Run inner_run(const Run& run);
PipelineContext inner_context(const StageParser& parser);
// What the pipeline makes of the collection, or of documents of its own.
Answer<SourcePtr> read_collection(const std::string& collection, const Pipeline& pipeline,
                                  Run& run);

// What is equal to one of the values, at the path.
Value equality_filter(const std::string& path, const std::vector<Value>& values);
// The values that a local field joins by: of an array its elements, of what is missing null.
std::vector<Value> join_values(const Value& value);

Answer<StagePtr> parse_lookup(std::string_view name, const Value& spec, StageParser& parser);

}  // namespace orrery::mongo
