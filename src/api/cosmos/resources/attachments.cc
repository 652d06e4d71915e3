// Attachments of items, a legacy of the first clients: links to media that are stored elsewhere,
// with metadata. They are named resources (named_resources.cc) of their item's resource id.
// Deleting an item leaves its attachments unreachable; they are removed with the container, and
// limits.md bounds them.
#include <fmt/format.h>

#include "api/cosmos/service.h"
#include "api/cosmos/wire/error_body.h"
#include "api/cosmos/wire/rid.h"
#include "base/await.h"

namespace orrery::cosmos {

std::optional<Service::ResourceOwner> Service::item_owner(CallPtr& call) {
  cluster::RoutingPtr routing = container_of(call);
  if (!routing) return std::nullopt;
  auto address = item_address(call, routing);
  if (!address) return std::nullopt;
  const std::string row = address->row;
  auto read = await<Result<cluster::ReadReply>>([&](auto done) {
    engine_.read(routing, std::move(address->placement), std::move(address->row), {},
                 std::move(done));
  });
  Result<cluster::ReadReply> reply = read ? std::move(*read) : pass(read.error());
  if (reply && !reply->item) {
    reply = fail(Code::not_found,
                 fmt::format("there is no item with id '{}' under the partition key {}", row,
                             call->headers.partition_key));
  }
  if (!reply) {
    call->fail(reply.error(), reply.error().code == Code::not_found ? kSubstatusOwnerNotFound : 0);
    call = nullptr;
    return std::nullopt;
  }
  const catalog::Container& container = *routing->container;
  const partition::Origin& origin = reply->item->origin;
  ResourceOwner owner{
      .number = 0,
      .database = container.database,
      .container = container.number,
      .rid = item_rid(container.database, container.number, origin.range, origin.number),
      .self = "",
      .names = fmt::format("dbs/{}/colls/{}/docs/{}", routing->database->name, container.spec.name,
                           row)};
  append_item_self(owner.self, container.database, container.number, origin.range, origin.number);
  // An item that was deleted and made again has another resource id, and none of the attachments.
  if (auto known = engine_.catalog().resource(kAttachedItemKind, container.number, owner.rid)) {
    owner.number = known->number;
  }
  return owner;
}

Status Service::begin_attaching(ResourceOwner& owner) {
  auto made = engine_.create_resource(kAttachedItemKind, owner.container, owner.rid, "",
                                      engine_.limits().account_resources);
  if (!made && made.error().code != Code::conflict) return pass(made.error());
  const auto known = engine_.catalog().resource(kAttachedItemKind, owner.container, owner.rid);
  if (!known) return fail(Code::not_found, "the item was deleted in the meantime");
  owner.number = known->number;
  return {};
}

}  // namespace orrery::cosmos
