// A unique index for a collection that has documents.
//
// The engine's re-indexing makes each document claim its values, in the background, while writes go
// on: those that would be duplicates are refused from the first moment. If two documents have the
// same values the engine gives the key up, and the index with it. A command that runs out of time
// leaves the building to itself; whoever asks for the same index again waits for it.
#pragma once

#include "api/mongo/bson/error.h"
#include "api/mongo/call.h"
#include "api/mongo/collections/definition.h"
#include "api/mongo/handler_context.h"
#include "cluster/engine.h"

namespace orrery::mongo {

// Adds `index` to the collection's definition, if it is not there, and blocks until it is built.
// 11000 if documents contradict it: then the collection has the definition `before`.
Answer<cluster::RoutingPtr> build_unique(const HandlerContext& context, Call& call,
                                         cluster::RoutingPtr routing, const IndexSpec& index,
                                         const Definition& before);

}  // namespace orrery::mongo
