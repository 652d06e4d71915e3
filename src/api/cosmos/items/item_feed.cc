// The feed of a container's items, page by page: of all of it, of one partition key range, of a
// range of effective partition keys, or of one partition key (or a prefix of its levels).
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>

#include "api/cosmos/items/read_terms.h"
#include "api/cosmos/service.h"
#include "api/cosmos/wire/feed_bounds.h"
#include "api/cosmos/wire/feed_json.h"
#include "api/cosmos/wire/rid.h"

namespace orrery::cosmos {
void Service::read_item_feed(CallPtr call) {
  cluster::RoutingPtr routing = container_of(call);
  if (!routing) return;
  const catalog::Container& container = *routing->container;
  auto size = page_size(call->headers.max_item_count, kDefaultPage, engine_.limits().feed_items);
  if (!size) return call->fail(size.error());
  auto demand = demand_of(call->headers.session_token);
  if (!demand) return call->fail(demand.error());
  auto factor = consistency_factor(call->headers.consistency, options_.consistency);
  if (!factor) return call->fail(factor.error());
  auto bounds = bounds_of(call->headers, container, engine_.limits());
  if (!bounds) return call->fail(bounds.error());
  std::optional<partition::ItemKey> after;
  if (!call->headers.continuation.empty()) {
    auto position = continuations_.decode(call->headers.continuation, container.number);
    if (!position) return call->fail(position.error());
    after = {std::move(position->after_placement), std::move(position->after_row)};
  }
  auto reply = engine_.feed(routing, bounds->min, bounds->max, after ? &*after : nullptr, *size,
                            *demand, *factor);
  if (!reply) return call->fail(reply.error());

  // One page that holds all: in the order in which they were made, as the service shows them.
  if (!after && !reply->page.more) {
    std::ranges::sort(reply->page.items, {}, [](const auto& one) {
      return std::tuple(one.second.origin.range, one.second.origin.number,
                        std::string_view(one.first.row));
    });
  }
  std::string json = feed_head(container_rid(container.database, container.number), "Documents");
  size_t count = 0;
  for (const auto& [key, item] : reply->page.items) {
    if (!bounds->only.has(key.placement)) continue;
    append_feed_element(json, item.body);
    ++count;
  }
  finish_feed(json, count);
  if (reply->page.more && reply->page.last) {
    const partition::ItemKey& last = *reply->page.last;
    call->response.add("x-ms-continuation",
                       continuations_.encode({container.number, last.placement, last.row}));
  }
  call->receipt(reply->receipt, *routing);
  call->response.add("x-ms-item-count", std::to_string(count));
  call->reply(200, std::move(json));
}

}  // namespace orrery::cosmos
