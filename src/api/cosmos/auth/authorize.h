// Whether a request may do what it asks for: signed with an account key (authorization.h), or with
// the token of a permission (resource_token.h, grant.h).
//
// Threading: any thread; nothing blocks. On the path of every request.
#pragma once

#include <string>
#include <string_view>

#include "api/cosmos/call.h"
#include "api/cosmos/handler_context.h"
#include "base/result.h"

namespace orrery::cosmos {

// By what: a few words for other nodes and logs. Code::unauthorized: nobody we know.
// Code::forbidden: may not do this.
Result<std::string_view> authorize(const HandlerContext& context, const Call& call);

// Whether a replace may change the item's id to this one: a token for one item may not.
Status check_renaming(const HandlerContext& context, Call& call, const std::string& id);

}  // namespace orrery::cosmos
