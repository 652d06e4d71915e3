// See concern.h.
#include "api/cosmos/forward/concern.h"

#include <string_view>
#include <utility>

#include "api/cosmos/foreign/foreign_database.h"
#include "api/cosmos/items/item_address.h"
#include "api/cosmos/items/item_write.h"
#include "api/cosmos/resources/lookup.h"
#include "api/cosmos/wire/feed_bounds.h"

namespace orrery::cosmos {
namespace {

using cluster::Routing;
using cluster::RoutingPtr;

Concern about_key(const Routing& routing, const Result<std::string>& placement) {
  if (!placement) return {};
  return {.slot = routing.slot_of(*placement)};
}

// The one partition that all of the bounds is in.
Concern about_bounds(const Routing& routing, const std::expected<KeyBounds, Refusal>& bounds) {
  if (!bounds || bounds->min >= bounds->max) return {};
  const auto [first, end] = routing.slots_of(bounds->min, bounds->max);
  return end - first == 1 ? Concern{.slot = routing.slots[first]} : Concern{};
}

Concern about_item(const HandlerContext& context, const Call& call, const RoutingPtr& routing) {
  // By resource id it has to be looked for in all of them.
  if (call.address.by_rid) return {};
  auto address = find_item(context, call, routing);
  if (!address) return {};
  return {.slot = routing->slot_of(address->placement)};
}

// An item that comes without a key header has its key in its body.
Concern about_new_item(const HandlerContext& context, const Call& call, const Routing& routing) {
  const Limits& limits = context.engine.limits();
  if (!call.headers.partition_key.empty()) {
    return about_key(routing,
                     place_key(call.headers.partition_key, routing.container->spec.key, limits));
  }
  ItemRequest request;
  request.verb = ItemVerb::upsert;
  request.body = call.body;
  auto write = make_write(request, routing, limits);
  if (!write) return {};
  return {.slot = routing.slot_of(write->placement)};
}

// A page of a feed is read in one partition: the one where it begins.
Concern about_feed(const HandlerContext& context, const Call& call, const Routing& routing) {
  const catalog::Container& container = *routing.container;
  auto bounds = bounds_of(call.headers, container, context.engine.limits());
  if (!bounds) return {};
  if (call.headers.continuation.empty()) return {.slot = routing.slot_of(bounds->min)};
  auto position = context.continuations.decode(call.headers.continuation, container.number);
  if (!position) return {};
  return {.slot = routing.slot_of(position->after_placement)};
}

Concern about_items(const HandlerContext& context, const Call& call, const Routing& routing) {
  const RequestHeaders& headers = call.headers;
  const catalog::Container& container = *routing.container;
  const Limits& limits = context.engine.limits();
  if (call.method == "GET") {
    return headers.a_im.empty() ? about_feed(context, call, routing)
                                : about_bounds(routing, bounds_of(headers, container, limits));
  }
  if (call.method != "POST" || is_true(headers.is_query_plan)) return {};
  if (call.is_query()) {
    return about_bounds(routing, bounds_of(headers, container, limits, GoneRange::its_keys));
  }
  if (!is_true(headers.is_batch)) return about_new_item(context, call, routing);
  if (is_true(headers.batch_atomic)) {
    return about_key(routing, place_key(headers.partition_key, container.spec.key, limits));
  }
  return about_bounds(routing, bounds_of(headers, container, limits));
}

Concern about_contents(const HandlerContext& context, const Call& call, const RoutingPtr& routing) {
  const ResourceAddress& address = call.address;
  const std::string_view type = address.segments[4];
  const auto by_key = [&] {
    return about_key(*routing, place_key(call.headers.partition_key, routing->container->spec.key,
                                         context.engine.limits()));
  };
  if (type == "docs" && address.count == 6) return about_item(context, call, routing);
  if (type == "docs" && address.count == 5) return about_items(context, call, *routing);
  if (type == "operations") return by_key();
  if (type == "sprocs" && address.count == 6 && call.method == "POST") return by_key();
  return {.catalog = call.is_write()};
}

}  // namespace

Concern concern_of(const HandlerContext& context, const Call& call) {
  const ResourceAddress& address = call.address;
  const bool is_in_container =
      address.count > 4 && address.segments[0] == "dbs" && address.segments[2] == "colls";
  if (!is_in_container) return {.catalog = call.is_write()};
  const RoutingPtr routing = find_shown_container(context.engine, address);
  // Whether there is none is for the handler to say, who asks the catalog's owner before.
  if (!routing) return {};
  // Nor may it be changed here if it is another face's.
  if (!is_own(*routing->database) && call.is_write()) return {};
  return about_contents(context, call, routing);
}

}  // namespace orrery::cosmos
