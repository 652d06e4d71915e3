// See item_address.h.
#include "api/cosmos/items/item_address.h"

#include <fmt/format.h>

#include <utility>

#include "api/cosmos/foreign/foreign_database.h"
#include "api/cosmos/foreign/foreign_item_address.h"
#include "api/cosmos/items/item_write.h"
#include "value/terms.h"

namespace orrery::cosmos {
namespace {

Result<ItemAddress> find_by_rid(cluster::Engine& engine, std::string_view rid,
                                const cluster::RoutingPtr& routing) {
  const value::Path rid_path{.steps = {{.name = "_rid"}}};
  std::string term = value::term_path(rid_path);
  value::append_term_value(term, rid);
  auto found = engine.find_by_term(routing, term);
  if (!found) return pass(found.error());
  if (!*found) {
    return fail(Code::not_found, fmt::format("there is no item with resource id '{}'", rid));
  }
  return ItemAddress{std::move((*found)->placement), std::move((*found)->row)};
}

}  // namespace

Result<ItemAddress> find_item(const HandlerContext& context, const Call& call,
                              const cluster::RoutingPtr& routing) {
  if (!is_own(*routing->database)) return find_foreign_item(context, call, routing);
  if (call.address.by_rid) return find_by_rid(context.engine, call.address.child(), routing);
  auto placement =
      place_key(call.headers.partition_key, routing->container->spec.key, context.engine.limits());
  if (!placement) return pass(placement.error());
  return ItemAddress{std::move(*placement), std::string(call.address.child())};
}

}  // namespace orrery::cosmos
