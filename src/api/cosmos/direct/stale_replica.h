// Whether a client's address of direct mode is out of date: the container is another one now, or
// the range was split. The answer, 410, makes it look again.
//
// Threading: any thread; nothing blocks. On the path of every request over RNTBD.
#pragma once

#include <optional>

#include "api/cosmos/direct/direct_request.h"
#include "api/cosmos/handler_context.h"
#include "net/http.h"

namespace orrery::cosmos::direct {

// Nothing: it is to be run. A request that names a range is run in any case: its handler knows.
std::optional<net::Response> refuse_stale(const HandlerContext& context,
                                          const DirectRequest& request);

}  // namespace orrery::cosmos::direct
