// Items, one at a time: create, upsert, read, replace, delete, patch. What else can be asked of a
// container's items (feeds, queries, batches) goes on to the handlers of that.
#pragma once

#include "api/cosmos/call.h"
#include "api/cosmos/handler_context.h"

namespace orrery::cosmos {

// /dbs/{}/colls/{}/docs
void handle_items(const HandlerContext& context, CallPtr call);
// /dbs/{}/colls/{}/docs/{}
void handle_item(const HandlerContext& context, CallPtr call);

}  // namespace orrery::cosmos
