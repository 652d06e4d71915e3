// Permissions and their tokens: making one, and authorizing a request by one. See resource_token.h
// for what a token is and grant.h for what it lets one do.
#include <fmt/format.h>

#include <utility>

#include "api/cosmos/auth/grant.h"
#include "api/cosmos/service.h"
#include "net/http_date.h"

namespace orrery::cosmos {

Status Service::check_resource(const ResourceKind& kind, const ResourceOwner& owner,
                               const ResourceDefinition& definition, uint32_t replaced) const {
  if (kind.number != kPermissionKind) return {};
  auto grant = parse_grant(definition.members);
  if (!grant) return pass(grant.error());
  cluster::RoutingPtr routing = find_container(grant->resource);
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
       engine_.catalog().resources(kPermissionKind, owner.number)) {
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

std::string Service::permission_token(const catalog::Resource& permission, int64_t life_s) const {
  ResourceToken token{.permission = permission.number,
                      .container = 0,
                      .expires_s = clock_.now_s() + life_s,
                      .fingerprint = fingerprint_of(permission.body)};
  if (auto grant = parse_grant(permission.body)) {
    if (cluster::RoutingPtr routing = find_container(grant->resource)) {
      token.container = routing->container->number;
    }
  }
  return tokens_.seal(token);
}

Status Service::authorize_by_token(const Call& call, std::string_view signature) const {
  auto token = tokens_.open(signature);
  if (!token) return pass(token.error());
  if (token->expires_s <= clock_.now_s()) {
    return fail(Code::forbidden,
                fmt::format("the resource token expired at {}: read its permission for a new one",
                            net::http_date(token->expires_s)));
  }
  const catalog::ResourcePtr permission = engine_.catalog().resource(token->permission);
  if (!permission || permission->kind != kPermissionKind ||
      fingerprint_of(permission->body) != token->fingerprint) {
    return fail(Code::forbidden,
                "the permission that this resource token comes from was deleted or changed: ask "
                "for a new token");
  }
  auto grant = parse_grant(permission->body);
  if (!grant) return pass(grant.error());
  const ResourceAddress& address = call.address;
  bool in_container = false;
  if (address.count >= 4 && address.segments[0] == "dbs" && address.segments[2] == "colls") {
    const cluster::RoutingPtr routing = find_container(address);
    in_container = routing && routing->container->number == token->container;
  }
  return check_grant(*grant, {.method = call.method,
                              .address = address,
                              .headers = call.headers,
                              .query = call.is_query(),
                              .in_container = in_container});
}

// A token for one item must not get hold of another id by it.
Status Service::check_renaming(Call& call, const std::string& id) const {
  auto signature = resource_signature(call.headers.authorization);
  if (!signature) return {};
  std::string& child = call.address.segments[5];
  std::string before = std::exchange(child, id);
  Status allowed = authorize_by_token(call, *signature);
  child = std::move(before);
  return allowed;
}

}  // namespace orrery::cosmos
