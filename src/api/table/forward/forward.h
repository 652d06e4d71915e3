// Sending calls to the node that has what they concern. See face/forward.h for the rules. A call
// goes as it came, and the node that runs it checks its signature again.
//
// Threading: any thread; nothing blocks.
#pragma once

#include "api/table/handler_context.h"
#include "face/forward.h"

namespace orrery::table {

// Makes a call one of a node among others. `forwarded`: null for a client's own.
void begin_hop(const HandlerContext& context, Call& call, const net::Request& request,
               const face::Forwarded* forwarded);

// Runs a call whose head was checked: here, or at the node that has what it concerns.
void run_call(const HandlerContext& context, CallPtr call);

// For a call that found no such table in this node's copy of the catalog, which may be behind. True
// when the catalog's owner has the call now. A server alone says false.
bool ask_catalog_owner(const HandlerContext& context, CallPtr& call);

// By the handler of its resource, on this node: service.cc.
void run_here(const HandlerContext& context, CallPtr call);

}  // namespace orrery::table
