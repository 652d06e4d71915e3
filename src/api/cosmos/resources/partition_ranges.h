// The partition key ranges of a container, whole or as an incremental feed: a client whose copy of
// the map is current is answered 304.
#pragma once

#include "api/cosmos/call.h"
#include "api/cosmos/handler_context.h"

namespace orrery::cosmos {

// /dbs/{}/colls/{}/pkranges
void handle_partition_ranges(const HandlerContext& context, CallPtr call);

}  // namespace orrery::cosmos
