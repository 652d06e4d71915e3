// First stages of pipelines that tell of the server or of a collection as a whole: $currentOp,
// $listLocalSessions, $collStats.
#pragma once

#include <string_view>

#include "api/mongo/bson/bson_writer.h"
#include "api/mongo/call.h"
#include "api/mongo/documents/pipeline_stream.h"
#include "api/mongo/handler_context.h"

namespace orrery::mongo {

// What such a stage tells takes its place, as $documents has it. Other pipelines stay as they are.
// Blocks.
Answer<void> answer_server_stage(const HandlerContext& context, const Call& call,
                                 PipelineQuery& query);

// The members of collStats, into the document that is open. namespaces.cc
Answer<void> append_collection_stats(const HandlerContext& context, std::string_view database,
                                     std::string_view name, double scale, BsonWriter& out);

}  // namespace orrery::mongo
