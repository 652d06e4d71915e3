// Who may do what: a key of the account everything, or everything that reads; a user what its roles
// allow as they are now.
//
// Threading: any thread.
#pragma once

#include <string_view>
#include <vector>

#include "api/mongo/auth/roles.h"
#include "api/mongo/call.h"
#include "api/mongo/handler_context.h"

namespace orrery::mongo {

// The roles of whoever sent the call; none when nobody has logged in.
std::vector<Role> roles_of(const HandlerContext& context, const Connection& connection);
bool is_logged_in(const HandlerContext& context, const Connection& connection);
// kUnauthorized when it may not.
Answer<void> check_may(const HandlerContext& context, const Call& call, Action action,
                       std::string_view database);

}  // namespace orrery::mongo
