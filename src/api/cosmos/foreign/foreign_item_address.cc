// See foreign_item_address.h.
#include "api/cosmos/foreign/foreign_item_address.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "api/cosmos/foreign/foreign_item.h"
#include "api/cosmos/items/item_write.h"
#include "api/cosmos/wire/feed_bounds.h"
#include "api/cosmos/wire/feed_json.h"
#include "api/cosmos/wire/rid.h"

namespace orrery::cosmos {
namespace {

std::unexpected<Error> no_such_item(std::string_view what, std::string_view text) {
  return fail(Code::not_found, fmt::format("there is no item with {} '{}'", what, text));
}

Result<ItemAddress> find_by_rid(const HandlerContext& context, const Call& call,
                                const cluster::RoutingPtr& routing) {
  const std::string_view text = call.address.child();
  const catalog::Container& container = *routing->container;
  auto rid = parse_rid(text);
  if (!rid || rid->kind != RidKind::item || rid->container != container.number) {
    return no_such_item("resource id", text);
  }
  const partition::Origin origin{rid->range_id(), rid->item_number()};
  auto bounds = range_bounds(*container.map, origin.range, GoneRange::its_keys);
  if (!bounds) return no_such_item("resource id", text);
  const int64_t until_us = context.clock.steady_us() +
                           static_cast<int64_t>(context.engine.limits().query_time_ms) * 1000;
  std::optional<partition::ItemKey> after;
  for (;;) {
    auto reply = context.engine.feed(routing, bounds->min, bounds->max, after ? &*after : nullptr,
                                     kLargestPage, {});
    if (!reply) return pass(reply.error());
    for (auto& [key, item] : reply->page.items) {
      if (item.origin == origin) return ItemAddress{std::move(key.placement), std::move(key.row)};
    }
    if (!reply->page.more || !reply->page.last) return no_such_item("resource id", text);
    after = reply->page.last;
    if (context.clock.steady_us() > until_us || call.client_is_gone()) {
      return fail(Code::unsupported,
                  fmt::format("the item with resource id '{}' was not found in the time of a "
                              "query: no index has the resource ids of another face's items. Read "
                              "it by its id and partition key",
                              text));
    }
  }
}

}  // namespace

Result<ItemAddress> find_foreign_item(const HandlerContext& context, const Call& call,
                                      const cluster::RoutingPtr& routing) {
  if (call.address.by_rid) return find_by_rid(context, call, routing);
  auto row = row_of_shown_id(call.address.child());
  if (!row) return no_such_item("id", call.address.child());
  auto placement =
      place_key(call.headers.partition_key, routing->container->spec.key, context.engine.limits());
  if (!placement) return pass(placement.error());
  return ItemAddress{std::move(*placement), std::move(*row)};
}

}  // namespace orrery::cosmos
