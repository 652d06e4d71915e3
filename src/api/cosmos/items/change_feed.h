// The change feed: the writes to a partition key range, to a part of one, or to a partition key,
// from a position on. The position is the etag: the LSN up to which all changes have been returned.
//
// A range that was split answers 410; its children continue from the same position. 304: no
// changes.
#pragma once

#include "api/cosmos/call.h"
#include "api/cosmos/handler_context.h"

namespace orrery::cosmos {

// GET /dbs/{}/colls/{}/docs with A-IM
void handle_change_feed(const HandlerContext& context, CallPtr call);

}  // namespace orrery::cosmos
