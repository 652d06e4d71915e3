// Deletes all items of a partition key: POST .../operations/partitionkeydelete. Answered once no
// reader sees the items; their disk space is reclaimed in the background
// (src/partition/purge_marks.h).
#pragma once

#include "api/cosmos/call.h"
#include "api/cosmos/handler_context.h"

namespace orrery::cosmos {

void handle_partition_key_delete(const HandlerContext& context, CallPtr call);

}  // namespace orrery::cosmos
