// Requests with a token of type=aad: who holds it (account/bearer_token.h), and whether a role lets
// them do what the request asks for (roles.h). The rules:
//   - The account document can be read by whoever has a role anywhere: clients need it to start.
//   - Definitions of databases and containers, their lists, ranges and client encryption keys need
//     readMetadata there.
//   - Items need the action of each operation. Those of a batch are looked at one by one, before
//   any is done.
//     The feed of all items and the change feed need readChangeFeed, queries executeQuery. A write
//     that runs triggers needs executeStoredProcedure too, since they may do more than it says.
//   - Making, changing and deleting databases, containers, scripts, offers, users and permissions
//   is for
//     account keys, and so is reading the last four: no role has an action for it.
//
// Threading: any thread; nothing blocks.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "api/cosmos/auth/roles.h"
#include "api/cosmos/call.h"
#include "api/cosmos/handler_context.h"
#include "api/cosmos/wire/error_body.h"

namespace orrery::cosmos {

// Whether the authorization header is of type=aad.
bool is_bearer(std::string_view authorization);

// Code::unauthorized: the token is not good. Code::forbidden: its holder may not do this. The
// substatus says which, by the vendor's numbers.
std::expected<void, Refusal> authorize_bearer(const HandlerContext& context, const Call& call);

// What a request needs: all of these. None: no role allows it.
Actions actions_for(const Call& call);

}  // namespace orrery::cosmos
