// Whether the documents of a collection can be in a new 2dsphere index.
#pragma once

#include <span>

#include "api/mongo/bson/error.h"
#include "api/mongo/call.h"
#include "api/mongo/collections/definition.h"
#include "api/mongo/handler_context.h"
#include "cluster/engine.h"

namespace orrery::mongo {

// 16755 if one has something else than a place in a field that an index has the places of. A
// document that is written meanwhile by who does not know of the index yet is not looked at: if it
// has no place, the index does not have it, and no filter by places matches it. Blocks.
Answer<void> check_places(const HandlerContext& context, Call& call,
                          const cluster::RoutingPtr& routing, std::span<const IndexSpec> indexes);

}  // namespace orrery::mongo
