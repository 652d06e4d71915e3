// Databases: create, list, query, read, delete.
#pragma once

#include "api/cosmos/call.h"
#include "api/cosmos/handler_context.h"

namespace orrery::cosmos {

// /dbs and /dbs/{}
void handle_databases(const HandlerContext& context, CallPtr call);

}  // namespace orrery::cosmos
