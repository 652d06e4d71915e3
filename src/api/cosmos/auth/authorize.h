// Whether a request may do what it asks for: signed with an account key (authorization.h), with the
// token of a permission (resource_token.h, grant.h), or with one of an issuer (bearer_access.h).
//
// Threading: any thread; nothing blocks. On the path of every request.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "api/cosmos/auth/grant.h"
#include "api/cosmos/auth/resource_token.h"
#include "api/cosmos/call.h"
#include "api/cosmos/handler_context.h"
#include "api/cosmos/wire/error_body.h"
#include "base/result.h"

namespace orrery::cosmos {

// By what: a few words for other nodes and logs. Code::unauthorized: nobody we know.
// Code::forbidden: may not do this.
std::expected<std::string_view, Refusal> authorize(const HandlerContext& context, const Call& call);

// The grant of a resource token for a whole container, with the container's items as its only use.
// Code::unauthorized: it is no token of this account. Code::forbidden: it is not valid any more, or
// for something else.
Result<Grant> open_grant(const ResourceTokens& tokens, const cluster::Engine& engine,
                         const cluster::Routing& routing, std::string_view authorization,
                         int64_t now_s);

// Whether a replace may change the item's id to this one: a token for one item may not.
Status check_renaming(const HandlerContext& context, Call& call, const std::string& id);

}  // namespace orrery::cosmos
