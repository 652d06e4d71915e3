// Several operations on items in one request: POST …/docs as a batch.
//
// An atomic batch is one transaction over one partition key. The partition's writer runs it whole
// and in order: its reads see its own writes, nobody sees a part of it, and when one operation
// fails none takes effect. In a bulk request (bulk.h) each operation is a transaction of its own.
#pragma once

#include "api/cosmos/call.h"
#include "api/cosmos/handler_context.h"

namespace orrery::cosmos {

void handle_batch(const HandlerContext& context, CallPtr call);

}  // namespace orrery::cosmos
