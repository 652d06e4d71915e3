// What the server is at, as documents: index builds, which go on after their command, and how far
// they are. Commands that are being run are not listed.
#pragma once

#include <vector>

#include "api/mongo/handler_context.h"
#include "value/value.h"

namespace orrery::mongo {

// Blocks.
std::vector<value::Value> index_builds(const HandlerContext& context);

}  // namespace orrery::mongo
