// The database and the container that a path names, by name or by resource id: an own one or, to
// read it, one of another face (foreign/foreign_database.h). A call that would change the latter is
// refused here, so no handler has to.
//
// Threading: any thread; nothing blocks.
#pragma once

#include "api/cosmos/call.h"
#include "api/cosmos/handler_context.h"

namespace orrery::cosmos {

// Null: there is none, or it is not to be changed here; the call has been answered, and `call` is
// null as well.
catalog::DatabasePtr database_of(const HandlerContext& context, CallPtr& call);
cluster::RoutingPtr container_of(const HandlerContext& context, CallPtr& call);

// Of any face, as it is shown here. Null: there is none.
cluster::RoutingPtr find_shown_container(const cluster::Engine& engine,
                                         const ResourceAddress& address);
// An own container, for the holders of resource tokens. Null: there is none.
cluster::RoutingPtr find_container(const cluster::Engine& engine, const ResourceAddress& address);

}  // namespace orrery::cosmos
