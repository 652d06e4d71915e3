// The database and the container that a path names, by name or by resource id.
//
// Threading: any thread; nothing blocks.
#pragma once

#include "api/cosmos/call.h"
#include "api/cosmos/handler_context.h"

namespace orrery::cosmos {

// Null: there is none, the call has been answered, and `call` is null as well.
catalog::DatabasePtr database_of(const HandlerContext& context, CallPtr& call);
cluster::RoutingPtr container_of(const HandlerContext& context, CallPtr& call);

// Null: there is none.
cluster::RoutingPtr find_container(const cluster::Engine& engine, const ResourceAddress& address);

}  // namespace orrery::cosmos
