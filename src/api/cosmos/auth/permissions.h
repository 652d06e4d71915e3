// Permissions as resources of a user: what is checked when one is stored, and the token that
// whoever reads one gets. See grant.h for what it lets one do.
//
// Threading: any thread; nothing blocks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/cosmos/handler_context.h"
#include "base/result.h"
#include "catalog/model.h"

namespace orrery::cosmos {

// Checks the definition of a permission of this user: its container must exist in the user's
// database, and the user must not have another permission for the same. `replaced`: the number of
// the permission that this one replaces, or 0. To be called inside the change, so that no other
// change comes in between.
struct PermissionOwner {
  uint32_t database;
  uint32_t user;
};
Status check_permission(const cluster::Engine& engine, const PermissionOwner& owner,
                        std::string_view definition, uint32_t replaced);

// A token that is valid this long.
std::string permission_token(const HandlerContext& context, const catalog::Resource& permission,
                             int64_t life_s);

}  // namespace orrery::cosmos
