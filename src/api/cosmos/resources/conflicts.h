// The conflicts of a container: writes of several regions that could not both stay. An account with
// one write region has none, so the feed is empty and no conflict is found by its id.
#pragma once

#include "api/cosmos/call.h"
#include "api/cosmos/handler_context.h"

namespace orrery::cosmos {

// /dbs/{}/colls/{}/conflicts and /dbs/{}/colls/{}/conflicts/{}
void handle_conflicts(const HandlerContext& context, CallPtr call);

}  // namespace orrery::cosmos
