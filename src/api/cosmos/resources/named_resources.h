// Users, permissions, scripts, client encryption keys, attachments: what all small named resources
// have in common. See resource_kinds.h for how a kind is described.
#pragma once

#include "api/cosmos/call.h"
#include "api/cosmos/handler_context.h"

namespace orrery::cosmos {

// Every path whose last type is that of a kind. Other types are answered as not supported.
void handle_named_resources(const HandlerContext& context, CallPtr call);

}  // namespace orrery::cosmos
