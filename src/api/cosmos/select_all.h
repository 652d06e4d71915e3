// The one query that is a feed: SELECT * FROM c, with any name for c. It is what clients send to
// read all items, and is answered as the feed of items is.
//
// Pure; any thread may call.
#pragma once

#include <string_view>

#include "base/result.h"

namespace orrery::cosmos {

// `body` is {"query":…,"parameters":[…]}, or the bare text of a query. Parameters do not matter, as
// the query that is looked for names none. An error when the body holds no query at all.
Result<bool> is_select_all(std::string_view body);

}  // namespace orrery::cosmos
