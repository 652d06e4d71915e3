// See lookup.h.
#include "api/cosmos/resources/lookup.h"

#include <fmt/format.h>

#include "api/cosmos/foreign/foreign_database.h"
#include "api/cosmos/forward/forward.h"
#include "api/cosmos/wire/error_body.h"
#include "api/cosmos/wire/rid.h"

namespace orrery::cosmos {
namespace {

// Answers a call that would change what is another face's; true when it did.
bool refuse_change(CallPtr& call, const catalog::Database& database) {
  if (is_own(database) || !call->is_write()) return false;
  call->fail(belongs_to_another_face(database));
  call = nullptr;
  return true;
}

cluster::RoutingPtr find_by_rid(const cluster::Engine& engine, std::string_view text) {
  auto rid = parse_rid(text);
  if (!rid || rid->kind != RidKind::container) return nullptr;
  cluster::RoutingPtr routing = engine.find(rid->container);
  if (!routing || routing->container->database != rid->database) return nullptr;
  return routing;
}

catalog::DatabasePtr find_any_database(const catalog::Catalog& catalog, std::string_view text) {
  if (auto database = catalog.database({kFaceName, text})) return database;
  if (const auto name = foreign_name(text)) return catalog.database(*name);
  auto rid = parse_rid(text);
  return rid && rid->kind == RidKind::database ? catalog.database(rid->database) : nullptr;
}

}  // namespace

// What is own is found first.
cluster::RoutingPtr find_shown_container(const cluster::Engine& engine,
                                         const ResourceAddress& address) {
  if (auto routing = engine.find({kFaceName, address.database()}, address.container())) {
    return routing;
  }
  const auto name = foreign_name(address.database());
  if (name && !engine.catalog().database({kFaceName, address.database()})) {
    if (auto routing = engine.find(*name, address.container())) return routing;
  }
  return find_by_rid(engine, address.container());
}

catalog::DatabasePtr database_of(const HandlerContext& context, CallPtr& call) {
  const std::string_view name = call->address.database();
  catalog::DatabasePtr database = find_any_database(context.engine.catalog(), name);
  if (database) return refuse_change(call, *database) ? nullptr : database;
  if (ask_catalog_owner(context, call)) return nullptr;
  call->fail(
      Error{.code = Code::not_found, .message = fmt::format("there is no database '{}'", name)},
      call->address.count > 2 ? kSubstatusOwnerNotFound : 0);
  call = nullptr;
  return nullptr;
}

cluster::RoutingPtr find_container(const cluster::Engine& engine, const ResourceAddress& address) {
  cluster::RoutingPtr routing = find_shown_container(engine, address);
  return routing && is_own(*routing->database) ? routing : nullptr;
}

cluster::RoutingPtr container_of(const HandlerContext& context, CallPtr& call) {
  const ResourceAddress& address = call->address;
  cluster::RoutingPtr routing = find_shown_container(context.engine, address);
  if (routing && refuse_change(call, *routing->database)) return nullptr;
  const std::string_view intended = call->headers.intended_container;
  if (routing && !intended.empty() &&
      intended != container_rid(routing->container->database, routing->container->number)) {
    if (ask_catalog_owner(context, call)) return nullptr;
    // The client encrypts by the policy of a container that was deleted: it reads the new one's.
    call->fail(Error{.code = Code::invalid,
                     .message = fmt::format("the request is meant for the container with resource "
                                            "id '{}', and '{}' is another one now: read it again",
                                            intended, address.container())},
               kSubstatusOtherContainer);
    call = nullptr;
    return nullptr;
  }
  if (routing) {
    if (is_own(*routing->database)) call->container = routing->container->number;
    return routing;
  }
  if (ask_catalog_owner(context, call)) return nullptr;
  const std::string message =
      find_any_database(context.engine.catalog(), address.database()) || address.by_rid
          ? fmt::format("there is no container '{}' in database '{}'", address.container(),
                        address.database())
          : fmt::format("there is no database '{}'", address.database());
  call->fail(Error{.code = Code::not_found, .message = message},
             address.count > 4 ? kSubstatusOwnerNotFound : 0);
  call = nullptr;
  return nullptr;
}

}  // namespace orrery::cosmos
