// Running stored procedures. Each is one transaction; it runs on a thread of the scripts' own,
// since it waits for a worker and for its partition.
#pragma once

#include "api/cosmos/call.h"
#include "api/cosmos/handler_context.h"

namespace orrery::cosmos {

// POST /dbs/{}/colls/{}/sprocs/{}
void handle_procedure(const HandlerContext& context, CallPtr call);

}  // namespace orrery::cosmos
