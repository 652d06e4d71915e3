// A TTL index for a collection that has documents.
//
// The date that a document expires by is taken when it is written. So the documents that are there
// are written again, as they are, before the first one expires: until then the index is pending, as
// it stays if the server ends in between, and is made again by the next command that asks for it.
// Change streams see an update without changes.
#pragma once

#include "api/mongo/bson/error.h"
#include "api/mongo/call.h"
#include "api/mongo/collections/definition.h"
#include "api/mongo/handler_context.h"
#include "cluster/engine.h"

namespace orrery::mongo {

// `definition` has the index. Blocks until documents expire by it.
Answer<cluster::RoutingPtr> start_expiring(const HandlerContext& context, Call& call,
                                           const cluster::RoutingPtr& routing,
                                           Definition definition);

}  // namespace orrery::mongo
