// See bearer_access.h.
#include "api/cosmos/auth/bearer_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "account/authorization_token.h"
#include "account/bearer_token.h"
#include "api/cosmos/auth/entra.h"
#include "api/cosmos/foreign/foreign_database.h"
#include "api/cosmos/resources/lookup.h"
#include "api/cosmos/wire/batch_body.h"

namespace orrery::cosmos {
namespace {

constexpr uint32_t kSubstatusNoSuchRight = 5300;    // no role has an action for the operation
constexpr uint32_t kSubstatusMetadataRight = 5301;  // not on this metadata
constexpr uint32_t kSubstatusDataRight = 5302;      // not on these data

uint32_t substatus_of(account::TokenFault fault) {
  using enum account::TokenFault;
  switch (fault) {
    case format:
      return 5003;
    case signature:
      return 5004;
    case not_yet:
      return 5005;
    case expired:
      return 5006;
    case issuer:
      return 5007;
    case audience:
      return 5008;
    case no_holder:
      return 5011;
    case signing_key:
      break;
  }
  return 5200;
}

std::unexpected<Refusal> refuse(Code code, std::string message, uint32_t substatus) {
  return std::unexpected(
      Refusal{.error = {.code = code, .message = std::move(message)}, .substatus = substatus});
}

Actions action_of(ItemVerb verb) {
  switch (verb) {
    case ItemVerb::create:
      return action::kCreate;
    case ItemVerb::upsert:
      return action::kUpsert;
    case ItemVerb::replace:
    case ItemVerb::patch:
      return action::kReplace;
    case ItemVerb::read:
      return action::kRead;
    case ItemVerb::remove:
      break;
  }
  return action::kDelete;
}

Actions actions_for_items(const Call& call) {
  if (call.is_query()) return action::kExecuteQuery;
  const Actions triggers = has_triggers(call.headers) ? action::kExecuteProcedure : Actions{0};
  const bool one = call.address.count == 6;
  if (call.method == "GET" || call.method == "HEAD") {
    return one ? action::kRead : action::kReadChangeFeed;
  }
  if (call.method == "POST" && !one) {
    return triggers | (is_true(call.headers.is_upsert) ? action::kUpsert : action::kCreate);
  }
  if (!one) return 0;
  if (call.method == "PUT" || call.method == "PATCH") return triggers | action::kReplace;
  return call.method == "DELETE" ? triggers | action::kDelete : 0;
}

bool is_batch(const Call& call) {
  return call.method == "POST" && call.address.count == 5 && call.address.segments[4] == "docs" &&
         is_true(call.headers.is_batch) && !call.is_query();
}

struct Names {
  std::string database;
  std::string container;
};

// Scopes are by name, and a path may be by resource ids.
Names names_of(const HandlerContext& context, const Call& call) {
  const ResourceAddress& address = call.address;
  if (address.count == 0 || address.segments[0] != "dbs") return {};
  if (!address.by_rid) {
    return {.database = std::string(address.database()),
            .container = address.segments[2] == "colls" ? std::string(address.container()) : ""};
  }
  const cluster::RoutingPtr routing =
      address.count >= 4 ? find_container(context.engine, address) : nullptr;
  if (!routing) return {};  // then only roles on the whole account count
  return {.database = routing->database->name, .container = routing->container->spec.name};
}

// Of a batch whose sender may do some of what a batch can: whether it does only that. The body
// comes after the head, which is asked for alone first.
std::optional<Refusal> check_batch(const HandlerContext& context, const Call& call,
                                   Actions rights) {
  Actions missing = 0;
  if ((rights & action::kItems) == action::kItems) return std::nullopt;
  if ((rights & action::kItems) == 0) missing = action::kItems;
  if (missing == 0 && !call.body.empty()) {
    auto batch = parse_batch(call.body, context.engine.limits());
    if (!batch) return Refusal{.error = batch.error(), .substatus = 0};
    for (const BatchOperation& operation : batch->operations) {
      missing |= action_of(operation.request.verb) & ~rights;
    }
  }
  if (missing == 0) return std::nullopt;
  return Refusal{.error = {.code = Code::forbidden,
                           .message = fmt::format("the batch needs {}, which no role of the "
                                                  "token's holder allows here",
                                                  action_names(missing))},
                 .substatus = kSubstatusDataRight};
}

std::expected<void, Refusal> check_rights(const HandlerContext& context, const Call& call,
                                          const Roles* roles, const account::Bearer& bearer) {
  const auto rights_on = [&](const Names& names) {
    // Tokens of the emulator's kind come without roles.
    return roles == nullptr ? action::kContributor
                            : roles->rights(bearer, names.database, names.container);
  };
  if (call.address.count == 0) {
    if (roles == nullptr || roles->rights_anywhere(bearer) != 0) return {};
    return refuse(Code::forbidden,
                  fmt::format("the principal {} has no role on this account", bearer.id),
                  kSubstatusMetadataRight);
  }
  const Actions rights = rights_on(names_of(context, call));
  if (is_batch(call)) {
    if (auto refusal = check_batch(context, call, rights)) return std::unexpected(*refusal);
    return {};
  }
  const Actions needed = actions_for(call);
  if (needed == 0) {
    return refuse(Code::forbidden,
                  fmt::format("{} {} is not allowed by any role on data: use an account key",
                              call.method, call.path()),
                  kSubstatusNoSuchRight);
  }
  const Actions missing = needed & ~rights;
  if (missing == 0) return {};
  return refuse(Code::forbidden,
                fmt::format("the principal {} does not have the right to perform {} on {}: assign "
                            "it a role that has",
                            bearer.id, action_names(missing), call.path()),
                needed == action::kReadMetadata ? kSubstatusMetadataRight : kSubstatusDataRight);
}

// The vendor's emulator takes tokens that nobody signed. They name one of these keys: the one that
// most clients name, and .NET's.
bool is_emulator_token(std::string_view token) {
  constexpr std::array<std::string_view, 2> kKeys = {"CosmosEmulatorPrimaryMaster",
                                                     "x_9KSusKU5YcHf4"};
  return std::ranges::find(kKeys, account::signing_key_named_by(token)) != kKeys.end();
}

}  // namespace

bool is_bearer(std::string_view authorization) {
  // Plain, or percent-encoded.
  const std::string_view head = authorization.substr(0, 16);
  return head.starts_with("type=aad") || head.starts_with("type%3Daad") ||
         head.starts_with("type%3daad");
}

Actions actions_for(const Call& call) {
  const ResourceAddress& address = call.address;
  const bool reads = !call.is_write();
  const Actions metadata = reads ? action::kReadMetadata : Actions{0};
  if (address.segments[0] != "dbs") {
    // Where replicas are is asked for at /addresses; offers are for account keys.
    return address.segments[0] == "offers" ? Actions{0} : metadata;
  }
  if (address.count <= 2) return metadata;
  if (address.segments[2] == "clientencryptionkeys") return metadata;
  if (address.segments[2] != "colls") return 0;
  if (address.count <= 4) return metadata;
  const std::string_view type = address.segments[4];
  if (type == "docs" && address.count <= 6) return actions_for_items(call);
  if (type == "pkranges" || type == "addresses") return metadata;
  if (type == "conflicts") return action::kManageConflicts;
  if (type == "operations" && address.count == 6) return action::kDelete;
  if (type == "sprocs" && address.count == 6 && call.method == "POST") {
    return action::kExecuteProcedure;
  }
  return 0;
}

std::expected<void, Refusal> authorize_bearer(const HandlerContext& context, const Call& call) {
  const auto header = account::parse_authorization(
      call.headers.authorization, account::kMaxTokenBytes + account::kMaxAuthorizationBytes);
  if (!header) return refuse(Code::unauthorized, header.error().message, 5003);
  const std::string_view token = header->signature();
  const auto policy = context.options.entra != nullptr ? context.options.entra->policy() : nullptr;
  const bool is_emulators = context.options.in_development && (!policy || is_emulator_token(token));
  if (!policy && !is_emulators) {
    return refuse(Code::unauthorized,
                  "this server takes no tokens of type=aad: it was started without --entra. Sign "
                  "the request with an account key",
                  5007);
  }
  const int64_t now_s = context.clock.now_s();
  const auto bearer = is_emulators ? account::check_token_with_key(
                                         context.account.keys().texts().primary, token, now_s)
                                   : account::check_token(policy->tokens, token, now_s);
  if (!bearer) {
    if (bearer.error().fault == account::TokenFault::signing_key && context.options.entra) {
      context.options.entra->ask_for_keys();
    }
    return refuse(Code::unauthorized, bearer.error().message, substatus_of(bearer.error().fault));
  }
  return check_rights(context, call, is_emulators ? nullptr : &policy->roles, *bearer);
}

}  // namespace orrery::cosmos
