// See feed_request.h.
#include "api/cosmos/items/feed_request.h"

#include <utility>

#include "api/cosmos/items/read_terms.h"
#include "api/cosmos/wire/feed_json.h"

namespace orrery::cosmos {

std::expected<FeedRequest, Refusal> feed_request_of(const HandlerContext& context,
                                                    const RequestHeaders& headers,
                                                    const catalog::Container& container,
                                                    GoneRange gone) {
  const Limits& limits = context.engine.limits();
  auto items_max = page_size(headers.max_item_count, kDefaultPage, limits.feed_items);
  if (!items_max) return std::unexpected(Refusal{items_max.error()});
  auto terms = read_terms_of(headers, context.options.consistency);
  if (!terms) return std::unexpected(Refusal{terms.error()});
  if (context.forwarder != nullptr) allow_replicas(*terms, headers, context.options.consistency);
  auto bounds = bounds_of(headers, container, limits, gone);
  if (!bounds) return std::unexpected(std::move(bounds.error()));
  return FeedRequest{*items_max, std::move(*terms), std::move(*bounds)};
}

}  // namespace orrery::cosmos
