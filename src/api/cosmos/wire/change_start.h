// Where a change feed starts, from the headers of the request. If-None-Match has the etag of an
// earlier page, that is an LSN, with or without quotation marks; or `*`: from now on.
// If-Modified-Since has a time. Without either: from the beginning.
//
// Pure; any thread may call. Input from outside.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cluster/engine.h"

namespace orrery::cosmos {

Result<cluster::ChangesFrom> parse_change_start(std::string_view if_none_match,
                                                std::string_view if_modified_since);

}  // namespace orrery::cosmos
