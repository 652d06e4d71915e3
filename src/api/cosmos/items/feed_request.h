// What the headers of a feed or a query over items ask for: how many items a page has, how new they
// must be, and of which keys.
//
// Pure; any thread may call.
#pragma once

#include <cstddef>
#include <expected>

#include "api/cosmos/handler_context.h"
#include "api/cosmos/wire/error_body.h"
#include "api/cosmos/wire/feed_bounds.h"
#include "api/cosmos/wire/request_headers.h"
#include "catalog/model.h"
#include "cluster/engine.h"

namespace orrery::cosmos {

struct FeedRequest {
  size_t items_max = 0;  // of a page
  cluster::ReadTerms terms;
  KeyBounds bounds;
};

std::expected<FeedRequest, Refusal> feed_request_of(const HandlerContext& context,
                                                    const RequestHeaders& headers,
                                                    const catalog::Container& container,
                                                    GoneRange gone = GoneRange::refuse);

}  // namespace orrery::cosmos
