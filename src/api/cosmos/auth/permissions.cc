// See permissions.h.
#include "api/cosmos/auth/permissions.h"

#include <fmt/format.h>

#include "api/cosmos/auth/grant.h"
#include "api/cosmos/resources/lookup.h"
#include "api/cosmos/resources/resource_kinds.h"

namespace orrery::cosmos {

Status check_permission(const cluster::Engine& engine, const PermissionOwner& owner,
                        std::string_view definition, uint32_t replaced) {
  auto grant = parse_grant(definition);
  if (!grant) return pass(grant.error());
  cluster::RoutingPtr routing = find_container(engine, grant->resource);
  if (!routing) {
    return fail(Code::not_found,
                fmt::format("the permission is about container '{}' of database '{}', which is not "
                            "there",
                            grant->resource.container(), grant->resource.database()));
  }
  if (routing->container->database != owner.database) {
    return fail(Code::invalid,
                fmt::format("the permission is about a container of database '{}', and its user "
                            "belongs to another database: make a user there",
                            routing->database->name));
  }
  for (const catalog::ResourcePtr& other :
       engine.catalog().resources(kPermissionKind, owner.user)) {
    if (other->number == replaced) continue;
    auto granted = parse_grant(other->body);
    if (granted && granted->same_subject(*grant)) {
      return fail(Code::conflict,
                  fmt::format("permission '{}' of this user is about the same resource already: "
                              "replace that one",
                              other->name));
    }
  }
  return {};
}

std::string permission_token(const HandlerContext& context, const catalog::Resource& permission,
                             int64_t life_s) {
  ResourceToken token{.permission = permission.number,
                      .container = 0,
                      .expires_s = context.clock.now_s() + life_s,
                      .fingerprint = fingerprint_of(permission.body)};
  if (auto grant = parse_grant(permission.body)) {
    if (cluster::RoutingPtr routing = find_container(context.engine, grant->resource)) {
      token.container = routing->container->number;
    }
  }
  return context.tokens.seal(token);
}

}  // namespace orrery::cosmos
