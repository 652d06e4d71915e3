// See resource_owner.h.
#include "api/cosmos/resources/resource_owner.h"

#include <fmt/format.h>

#include "api/cosmos/foreign/foreign_database.h"
#include "api/cosmos/resources/attachments.h"
#include "api/cosmos/resources/lookup.h"
#include "api/cosmos/wire/error_body.h"
#include "api/cosmos/wire/resource_json.h"
#include "api/cosmos/wire/rid.h"

namespace orrery::cosmos {
namespace {

ResourceOwner container_owner(const cluster::Routing& routing) {
  const catalog::Container& container = *routing.container;
  return {.number = container.number,
          .database = routing.database->number,
          .rid = container_rid(container.database, container.number),
          .self = container_self(container.database, container.number),
          .names = name_path(*routing.database, container.spec.name),
          .is_foreign = !is_own(*routing.database)};
}

ResourceOwner database_owner(const catalog::Database& database) {
  return {.number = database.number,
          .database = database.number,
          .rid = database_rid(database.number),
          .self = database_self(database.number),
          .names = name_path(database),
          .is_foreign = !is_own(database)};
}

ResourceOwner user_owner(ResourceOwner database, const catalog::Resource& user) {
  const ResourceKind& users = *kind_of(kUserKind);
  ResourceOwner owner = std::move(database);
  owner.number = user.number;
  owner.rid = resource_rid(users.rid, owner.database, owner.database, user.number);
  owner.self += fmt::format("{}/{}/", users.segment, owner.rid);
  owner.names += fmt::format("/{}/{}", users.segment, user.name);
  return owner;
}

}  // namespace

std::optional<ResourceOwner> owner_of(const HandlerContext& context, CallPtr& call,
                                      const ResourceKind& kind) {
  if (kind.owner == "docs") return item_owner(context, call);
  if (kind.owner == "colls") {
    cluster::RoutingPtr routing = container_of(context, call);
    if (!routing) return std::nullopt;
    return container_owner(*routing);
  }
  catalog::DatabasePtr database = database_of(context, call);
  if (!database) return std::nullopt;
  ResourceOwner owner = database_owner(*database);
  if (kind.owner == "dbs") return owner;
  const ResourceKind& users = *kind_of(kUserKind);
  const std::string& name = call->address.segments[3];
  catalog::ResourcePtr user = find_resource(context.engine.catalog(), users, owner, name);
  if (!user) {
    call->fail(Error{.code = Code::not_found,
                     .message = fmt::format("there is no {} '{}' in database '{}'", users.noun,
                                            name, database->name)},
               kSubstatusOwnerNotFound);
    call = nullptr;
    return std::nullopt;
  }
  return user_owner(std::move(owner), *user);
}

std::vector<catalog::ResourcePtr> resources_of(const catalog::Catalog& catalog,
                                               const ResourceKind& kind,
                                               const ResourceOwner& owner) {
  if (owner.is_foreign) return {};
  return catalog.resources(kind.number, owner.number);
}

catalog::ResourcePtr find_resource(const catalog::Catalog& catalog, const ResourceKind& kind,
                                   const ResourceOwner& owner, std::string_view name) {
  if (owner.is_foreign) return nullptr;
  if (catalog::ResourcePtr named = catalog.resource(kind.number, owner.number, name)) return named;
  auto rid = parse_rid(name);
  if (!rid || rid->kind != kind.rid) return nullptr;
  catalog::ResourcePtr numbered = catalog.resource(rid->number());
  if (!numbered || numbered->kind != kind.number || numbered->parent != owner.number) {
    return nullptr;
  }
  return numbered;
}

}  // namespace orrery::cosmos
