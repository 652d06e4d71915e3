// The members of an aggregate, checked.
#pragma once

#include "api/mongo/bson/error.h"
#include "api/mongo/call.h"
#include "api/mongo/documents/pipeline_stream.h"
#include "value/value.h"

namespace orrery::mongo {

// `command`: the call's, or the one that it asks to explain.
Answer<PipelineQuery> parse_aggregate(const Call& call, const value::Value& command);

}  // namespace orrery::mongo
