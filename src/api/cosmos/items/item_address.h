// Where the item of a request is: its placement key and its row.
#pragma once

#include <string>

#include "api/cosmos/call.h"
#include "api/cosmos/handler_context.h"
#include "base/result.h"

namespace orrery::cosmos {

struct ItemAddress {
  std::string placement;
  std::string row;
};

// From the path and the key header. By resource id the item is looked for, which may block.
Result<ItemAddress> find_item(const HandlerContext& context, const Call& call,
                              const cluster::RoutingPtr& routing);

}  // namespace orrery::cosmos
