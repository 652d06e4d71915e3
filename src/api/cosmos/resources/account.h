// The account document: how a client learns where to send its requests.
#pragma once

#include "api/cosmos/call.h"
#include "api/cosmos/handler_context.h"

namespace orrery::cosmos {

// GET /
void handle_account(const HandlerContext& context, CallPtr call);

}  // namespace orrery::cosmos
