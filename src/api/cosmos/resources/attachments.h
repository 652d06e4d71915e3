// Attachments of items, a legacy of the first clients: links to media that are stored elsewhere,
// with metadata. They are named resources (named_resources.h) of their item's resource id.
// Deleting an item leaves its attachments unreachable; they are removed with the container, and
// limits.md bounds them.
#pragma once

#include <optional>

#include "api/cosmos/resources/resource_owner.h"

namespace orrery::cosmos {

// The item in the call's path, as the owner of attachments. Nothing: it is not there, the call has
// been answered, and `call` is null. May block.
std::optional<ResourceOwner> item_owner(const HandlerContext& context, CallPtr& call);

// Enters an item among those that have attachments.
Status begin_attaching(cluster::Engine& engine, ResourceOwner& owner);

}  // namespace orrery::cosmos
