// /addresses of the gateway: where clients of direct mode find the ranges of a container.
//
//   GET /addresses/?$resolveFor=dbs/{rid}/colls/{rid}/docs&$filter=protocol eq rntbd
//       &$partitionKeyRangeIds=0,1
// Without a container ($resolveFor=dbs) it is about the catalog: databases and users.
//
// Each range has two addresses at one place, a primary and a secondary: with the account's replica
// set of one, a strong read is one frame then. (With a primary alone clients ask for its addresses
// again before each.)
#pragma once

#include "api/cosmos/call.h"
#include "api/cosmos/handler_context.h"

namespace orrery::cosmos::direct {

void handle_addresses(const HandlerContext& context, CallPtr call);

}  // namespace orrery::cosmos::direct
