// Offers: the throughput of databases and containers, read and changed.
#pragma once

#include "api/cosmos/call.h"
#include "api/cosmos/handler_context.h"

namespace orrery::cosmos {

// /offers and /offers/{}
void handle_offers(const HandlerContext& context, CallPtr call);

}  // namespace orrery::cosmos
