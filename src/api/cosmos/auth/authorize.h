// Whether a request may do what it asks for: signed with an account key (authorization.h), with the
// token of a permission (resource_token.h, grant.h), or with one of an issuer (bearer_access.h).
//
// Threading: any thread; nothing blocks. On the path of every request.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "api/cosmos/call.h"
#include "api/cosmos/handler_context.h"
#include "api/cosmos/wire/error_body.h"
#include "base/result.h"

namespace orrery::cosmos {

// By what: a few words for other nodes and logs. Code::unauthorized: nobody we know.
// Code::forbidden: may not do this.
std::expected<std::string_view, Refusal> authorize(const HandlerContext& context, const Call& call);

// Whether a replace may change the item's id to this one: a token for one item may not.
Status check_renaming(const HandlerContext& context, Call& call, const std::string& id);

}  // namespace orrery::cosmos
