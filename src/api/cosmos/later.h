// Calls that may block: they are answered on the threads of a lane (face/lanes.h).
#pragma once

#include "api/cosmos/call.h"
#include "api/cosmos/handler_context.h"
#include "face/lanes.h"

namespace orrery::cosmos {

using face::Lane;

using Handler = void (*)(const HandlerContext& context, CallPtr call);
using CallJob = face::WaitingCall<Call>::Job;

void later(const HandlerContext& context, CallPtr call, Lane lane, Handler handler);

// Of a container, which takes turns with other containers. When there is no such container the call
// is answered with that.
void later_in_container(const HandlerContext& context, CallPtr call, Lane lane, CallJob job);
void later_in_container(const HandlerContext& context, CallPtr call, Lane lane, Handler handler);

}  // namespace orrery::cosmos
