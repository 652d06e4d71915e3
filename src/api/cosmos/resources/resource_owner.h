// What a named resource (resource_kinds.h) belongs to: a database, a container, a user or an item.
// And finding one of its resources.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/cosmos/call.h"
#include "api/cosmos/handler_context.h"
#include "api/cosmos/resources/resource_kinds.h"

namespace orrery::cosmos {

struct ResourceOwner {
  uint32_t number;         // in the catalog; 0: of an item that has no attachments yet
  uint32_t database;       // the number of the database that all is in
  uint32_t container = 0;  // of an item
  std::string rid;
  std::string self;   // dbs/{rid}/…/
  std::string names;  // the same by names: dbs/shop/users/ann
  // Of another face. Kinds mean something else there, so none of its resources are shown.
  bool is_foreign = false;
};

// The owner in the call's path. Nothing: it is not there, the call has been answered, and `call` is
// null. If the owner is an item, it is read, which may block.
std::optional<ResourceOwner> owner_of(const HandlerContext& context, CallPtr& call,
                                      const ResourceKind& kind);

// By name.
std::vector<catalog::ResourcePtr> resources_of(const catalog::Catalog& catalog,
                                               const ResourceKind& kind,
                                               const ResourceOwner& owner);
// By name or by resource id; null when there is none.
catalog::ResourcePtr find_resource(const catalog::Catalog& catalog, const ResourceKind& kind,
                                   const ResourceOwner& owner, std::string_view name);

}  // namespace orrery::cosmos
