// Queries over the items of a container: POST …/docs with a query, and the plan for one.
//
// A short query is answered on the event loop's thread, from memory: handing it to another thread
// would cost as much as the query. It is tried there within an allowance. If that does not suffice,
// it runs again on a thread that may block.
#pragma once

#include "api/cosmos/call.h"
#include "api/cosmos/handler_context.h"

namespace orrery::cosmos {

void handle_item_query(const HandlerContext& context, CallPtr call);

}  // namespace orrery::cosmos
