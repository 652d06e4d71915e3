// The service itself: its properties and stats, and the preflight of browsers.
#pragma once

#include "api/table/handler_context.h"

namespace orrery::table {

void handle_service(const HandlerContext& context, CallPtr call);
// An OPTIONS request, which nobody signs.
void handle_preflight(const HandlerContext& context, CallPtr call);
// Of a browser's request from another site: by which rules the page may see the answer.
void take_cors_rules(const HandlerContext& context, Call& call);

}  // namespace orrery::table
