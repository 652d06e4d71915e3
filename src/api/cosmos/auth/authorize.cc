// See authorize.h.
#include "api/cosmos/auth/authorize.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "api/cosmos/auth/authorization.h"
#include "api/cosmos/auth/bearer_access.h"
#include "api/cosmos/auth/grant.h"
#include "api/cosmos/auth/resource_token.h"
#include "api/cosmos/resources/lookup.h"
#include "api/cosmos/resources/resource_kinds.h"
#include "net/http_date.h"

namespace orrery::cosmos {
namespace {

struct OpenedToken {
  ResourceToken token;
  Grant grant;
};

// A token that is valid now, and what it grants.
Result<OpenedToken> open_token(const ResourceTokens& tokens, const cluster::Engine& engine,
                               std::string_view signature, int64_t now_s) {
  auto token = tokens.open(signature);
  if (!token) return pass(token.error());
  if (token->expires_s <= now_s) {
    return fail(Code::forbidden,
                fmt::format("the resource token expired at {}: read its permission for a new one",
                            net::http_date(token->expires_s)));
  }
  const catalog::ResourcePtr permission = engine.catalog().resource(token->permission);
  if (!permission || permission->kind != kPermissionKind ||
      fingerprint_of(permission->body) != token->fingerprint) {
    return fail(Code::forbidden,
                "the permission that this resource token comes from was deleted or changed: ask "
                "for a new token");
  }
  auto grant = parse_grant(permission->body);
  if (!grant) return pass(grant.error());
  return OpenedToken{*token, std::move(*grant)};
}

Status authorize_by_token(const HandlerContext& context, const Call& call,
                          std::string_view signature) {
  auto opened = open_token(context.tokens, context.engine, signature, context.clock.now_s());
  if (!opened) return pass(opened.error());
  // Where a container is, whoever may read something of it may know.
  std::optional<ResourceAddress> container;
  if (asks_for_addresses(call.address)) {
    auto feed = resolved_for(call.target);
    if (!feed) return pass(feed.error());
    container = std::move(*feed);
    if (container->count == 5) container->count = 4;
  }
  const ResourceAddress& address = container ? *container : call.address;
  bool in_container = false;
  if (address.count >= 4 && address.segments[0] == "dbs" && address.segments[2] == "colls") {
    const cluster::RoutingPtr routing = find_container(context.engine, address);
    in_container = routing && routing->container->number == opened->token.container;
  }
  return check_grant(opened->grant, {.method = call.method,
                                     .address = address,
                                     .headers = call.headers,
                                     .query = call.is_query(),
                                     .in_container = in_container});
}

Result<std::string_view> authorize_by_key(const HandlerContext& context, const Call& call) {
  auto access =
      verify(context.account.keys(),
             {.verb = call.method,
              .authorization = call.headers.authorization,
              .date = call.headers.xms_date.empty() ? call.headers.date : call.headers.xms_date,
              .address = &call.address,
              .now_s = context.clock.now_s()});
  if (!access) return pass(access.error());
  if (*access == account::Access::read_write) return "key";
  if (call.is_write()) {
    return fail(Code::forbidden,
                fmt::format("this key may only read, and {} {} writes: use a read-write key",
                            call.method, call.path()));
  }
  // A permission is read with a token in it, which may write.
  if (call.address.segments[2] == "users" && call.address.segments[4] == "permissions") {
    return fail(Code::forbidden,
                "this key may only read, and whoever reads permissions gets their tokens: use a "
                "read-write key");
  }
  return "read-only key";
}

std::unexpected<Refusal> refuse(const Error& error) {
  return std::unexpected(Refusal{.error = error, .substatus = 0});
}

}  // namespace

std::expected<std::string_view, Refusal> authorize(const HandlerContext& context,
                                                   const Call& call) {
  if (is_bearer(call.headers.authorization)) {
    if (auto allowed = authorize_bearer(context, call); !allowed) {
      return std::unexpected(std::move(allowed.error()));
    }
    return "bearer token";
  }
  if (auto signature = resource_signature(call.headers.authorization)) {
    if (auto allowed = authorize_by_token(context, call, *signature); !allowed) {
      return refuse(allowed.error());
    }
    return "resource token";
  }
  auto key = authorize_by_key(context, call);
  if (!key) return refuse(key.error());
  return *key;
}

Result<Grant> open_grant(const ResourceTokens& tokens, const cluster::Engine& engine,
                         const cluster::Routing& routing, std::string_view authorization,
                         int64_t now_s) {
  const auto signature = resource_signature(authorization);
  if (!signature) return fail(Code::unauthorized, "this is no resource token");
  auto opened = open_token(tokens, engine, *signature, now_s);
  if (!opened) return pass(opened.error());
  if (opened->token.container != routing.container->number || !opened->grant.whole_container()) {
    return fail(Code::forbidden, "the resource token is not for this container as a whole");
  }
  return std::move(opened->grant);
}

// A token for one item must not get hold of another id by it.
Status check_renaming(const HandlerContext& context, Call& call, const std::string& id) {
  auto signature = resource_signature(call.headers.authorization);
  if (!signature) return {};
  std::string& child = call.address.segments[5];
  std::string before = std::exchange(child, id);
  Status allowed = authorize_by_token(context, call, *signature);
  child = std::move(before);
  return allowed;
}

}  // namespace orrery::cosmos
