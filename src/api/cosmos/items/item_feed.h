// The feed of a container's items, page by page: of all of it, of one partition key range, of a
// range of effective partition keys, or of one partition key (or a prefix of its levels).
#pragma once

#include "api/cosmos/call.h"
#include "api/cosmos/handler_context.h"

namespace orrery::cosmos {

// GET /dbs/{}/colls/{}/docs
void handle_item_feed(const HandlerContext& context, CallPtr call);

}  // namespace orrery::cosmos
