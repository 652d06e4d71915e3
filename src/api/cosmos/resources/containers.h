// Containers: create, list, query, read, replace, delete.
#pragma once

#include "api/cosmos/call.h"
#include "api/cosmos/handler_context.h"

namespace orrery::cosmos {

// /dbs/{}/colls and /dbs/{}/colls/{}
void handle_containers(const HandlerContext& context, CallPtr call);

}  // namespace orrery::cosmos
