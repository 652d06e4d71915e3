// See lookup.h.
#include "api/cosmos/resources/lookup.h"

#include <fmt/format.h>

#include "api/cosmos/wire/error_body.h"
#include "api/cosmos/wire/rid.h"

namespace orrery::cosmos {

catalog::DatabasePtr database_of(const HandlerContext& context, CallPtr& call) {
  const catalog::Catalog& catalog = context.engine.catalog();
  const std::string_view name = call->address.database();
  catalog::DatabasePtr database = catalog.database({kFaceName, name});
  if (!database) {
    if (auto rid = parse_rid(name); rid && rid->kind == RidKind::database) {
      database = catalog.database(rid->database);
      if (database && database->face != kFaceName) database = nullptr;
    }
  }
  if (!database) {
    call->fail(
        Error{.code = Code::not_found, .message = fmt::format("there is no database '{}'", name)},
        call->address.count > 2 ? kSubstatusOwnerNotFound : 0);
    call = nullptr;
  }
  return database;
}

cluster::RoutingPtr find_container(const cluster::Engine& engine, const ResourceAddress& address) {
  cluster::RoutingPtr routing = engine.find({kFaceName, address.database()}, address.container());
  if (routing) return routing;
  auto rid = parse_rid(address.container());
  if (!rid || rid->kind != RidKind::container) return nullptr;
  routing = engine.find(rid->container);
  if (!routing || routing->container->database != rid->database) return nullptr;
  return routing->database->face == kFaceName ? routing : nullptr;
}

cluster::RoutingPtr container_of(const HandlerContext& context, CallPtr& call) {
  const ResourceAddress& address = call->address;
  cluster::RoutingPtr routing = find_container(context.engine, address);
  const std::string_view intended = call->headers.intended_container;
  if (routing && !intended.empty() &&
      intended != container_rid(routing->container->database, routing->container->number)) {
    // The client encrypts by the policy of a container that was deleted: it reads the new one's.
    call->fail(Error{.code = Code::invalid,
                     .message = fmt::format("the request is meant for the container with resource "
                                            "id '{}', and '{}' is another one now: read it again",
                                            intended, address.container())},
               kSubstatusOtherContainer);
    call = nullptr;
    return nullptr;
  }
  if (routing) return routing;
  const std::string message =
      context.engine.catalog().database({kFaceName, address.database()}) || address.by_rid
          ? fmt::format("there is no container '{}' in database '{}'", address.container(),
                        address.database())
          : fmt::format("there is no database '{}'", address.database());
  call->fail(Error{.code = Code::not_found, .message = message},
             address.count > 4 ? kSubstatusOwnerNotFound : 0);
  call = nullptr;
  return nullptr;
}

}  // namespace orrery::cosmos
