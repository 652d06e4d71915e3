// A write with triggers before and after it: one transaction. It runs on a thread of the scripts'
// own, since it waits for workers and for its partition.
#pragma once

#include "api/cosmos/call.h"
#include "api/cosmos/handler_context.h"
#include "api/cosmos/items/item_write.h"

namespace orrery::cosmos {

// Blocks.
void write_with_triggers(const HandlerContext& context, CallPtr call, ItemVerb verb);

}  // namespace orrery::cosmos
