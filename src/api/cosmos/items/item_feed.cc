// See item_feed.h.
#include "api/cosmos/items/item_feed.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "api/cosmos/foreign/foreign_database.h"
#include "api/cosmos/foreign/foreign_item.h"
#include "api/cosmos/items/feed_request.h"
#include "api/cosmos/later.h"
#include "api/cosmos/resources/lookup.h"
#include "api/cosmos/wire/feed_json.h"
#include "api/cosmos/wire/rid.h"

namespace orrery::cosmos {
namespace {

// In the order in which they were made, as the service shows them.
void sort_by_age(partition::Page& page) {
  std::ranges::sort(page.items, {}, [](const auto& one) {
    return std::tuple(one.second.origin.range, one.second.origin.number,
                      std::string_view(one.first.row));
  });
}

void read_item_feed(const HandlerContext& context, CallPtr call) {
  cluster::RoutingPtr routing = container_of(context, call);
  if (!routing) return;
  const catalog::Container& container = *routing->container;
  auto asked = feed_request_of(context, call->headers, container);
  if (!asked) return call->fail(asked.error());
  std::optional<partition::ItemKey> after;
  if (!call->headers.continuation.empty()) {
    auto position = context.continuations.decode(call->headers.continuation, container.number);
    if (!position) return call->fail(position.error());
    after = {std::move(position->after_placement), std::move(position->after_row)};
  }
  const auto& [items_max, terms, bounds] = *asked;
  auto reply = context.engine.feed(routing, bounds.min, bounds.max, after ? &*after : nullptr,
                                   items_max, terms.demand, terms.charge_factor);
  if (!reply) return call->fail(reply.error());

  const bool is_all = !after && !reply->page.more;
  if (is_all) sort_by_age(reply->page);
  std::string json = feed_head(container_rid(container.database, container.number), "Documents");
  const bool is_foreign = !is_own(*routing->database);
  size_t count = 0;
  for (const auto& [key, item] : reply->page.items) {
    if (!bounds.only.has(key.placement)) continue;
    if (is_foreign) {
      auto shown = foreign_item_json(*routing, key.row, item);
      if (!shown) return call->fail(shown.error());
      append_feed_element(json, *shown);
    } else {
      append_feed_element(json, item.body);
    }
    ++count;
  }
  finish_feed(json, count);
  if (reply->page.more && reply->page.last) {
    const partition::ItemKey& last = *reply->page.last;
    call->response.add("x-ms-continuation",
                       context.continuations.encode({container.number, last.placement, last.row}));
  }
  call->receipt(reply->receipt, *routing);
  call->response.add("x-ms-item-count", std::to_string(count));
  call->reply(200, std::move(json));
}

}  // namespace

void handle_item_feed(const HandlerContext& context, CallPtr call) {
  call->operation = Operation::item_feed;
  later_in_container(context, std::move(call), Lane::queries, read_item_feed);
}

}  // namespace orrery::cosmos
