// Sending calls to the node that has what they concern. See face/forward.h for the rules.
//
// Threading: any thread; nothing blocks.
#pragma once

#include <string>

#include "api/cosmos/call.h"
#include "api/cosmos/handler_context.h"
#include "api/cosmos/later.h"
#include "face/forward.h"
#include "net/http.h"

namespace orrery::cosmos {

// Makes a call one of a node among others: `run` runs it from the beginning, when it comes back.
// `forwarded`: null for a client's own.
void begin_hop(const HandlerContext& context, Call& call, const net::Request& request,
               const face::Forwarded* forwarded, Handler run);

// True when it took the call: another node is asked, or it was sent back to the one that asked.
// False: it is to be run here.
bool forward_elsewhere(const HandlerContext& context, CallPtr& call);

// For a call that found nothing (no database, no container, no permission) in this node's copy of
// the catalog, which may be behind. True when the catalog's owner has the call now; false: this
// node's copy is as good as any. A server alone says false.
bool ask_catalog_owner(const HandlerContext& context, CallPtr& call);

}  // namespace orrery::cosmos
