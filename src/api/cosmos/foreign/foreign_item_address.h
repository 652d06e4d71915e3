// Where an item of another face's container is, from what a request names it by.
//
// Threading: by resource id it reads items until it has found it, which blocks.
#pragma once

#include "api/cosmos/call.h"
#include "api/cosmos/handler_context.h"
#include "api/cosmos/items/item_address.h"

namespace orrery::cosmos {

// As find_item(). No index knows the resource ids of these items: the partitions that can have the
// item are read through, for as long as a query may take.
Result<ItemAddress> find_foreign_item(const HandlerContext& context, const Call& call,
                                      const cluster::RoutingPtr& routing);

}  // namespace orrery::cosmos
