// See attachments.h.
#include "api/cosmos/resources/attachments.h"

#include <fmt/format.h>

#include "api/cosmos/foreign/foreign_database.h"
#include "api/cosmos/foreign/foreign_item.h"
#include "api/cosmos/items/item_address.h"
#include "api/cosmos/resources/lookup.h"
#include "api/cosmos/resources/resource_kinds.h"
#include "api/cosmos/wire/error_body.h"
#include "api/cosmos/wire/rid.h"
#include "base/await.h"

namespace orrery::cosmos {

std::optional<ResourceOwner> item_owner(const HandlerContext& context, CallPtr& call) {
  cluster::RoutingPtr routing = container_of(context, call);
  if (!routing) return std::nullopt;
  const auto refuse = [&call](const Error& error, uint32_t substatus) {
    call->fail(error, substatus);
    call = nullptr;
    return std::nullopt;
  };
  auto address = find_item(context, *call, routing);
  if (!address) return refuse(address.error(), 0);
  const std::string row = address->row;
  auto read = await<Result<cluster::ReadReply>>([&](auto done) {
    context.engine.read(routing, std::move(address->placement), std::move(address->row), {},
                        std::move(done));
  });
  Result<cluster::ReadReply> reply = read ? std::move(*read) : pass(read.error());
  if (reply && !reply->item) {
    reply = fail(Code::not_found,
                 fmt::format("there is no item with id '{}' under the partition key {}", row,
                             call->headers.partition_key));
  }
  if (!reply) {
    return refuse(reply.error(),
                  reply.error().code == Code::not_found ? kSubstatusOwnerNotFound : 0);
  }
  const catalog::Container& container = *routing->container;
  const partition::Origin& origin = reply->item->origin;
  ResourceOwner owner{
      .number = 0,
      .database = container.database,
      .container = container.number,
      .rid = item_rid(container.database, container.number, origin.range, origin.number),
      .self = "",
      .names = name_path(*routing->database, container.spec.name) + "/docs/",
      .is_foreign = !is_own(*routing->database)};
  owner.names += owner.is_foreign ? shown_item_id(row) : row;
  append_item_self(owner.self, container.database, container.number, origin.range, origin.number);
  // An item that was deleted and made again has another resource id, and none of the attachments.
  if (owner.is_foreign) return owner;
  if (auto known =
          context.engine.catalog().resource(kAttachedItemKind, container.number, owner.rid)) {
    owner.number = known->number;
  }
  return owner;
}

Status begin_attaching(cluster::Engine& engine, ResourceOwner& owner) {
  auto made = engine.create_resource(kAttachedItemKind, owner.container, owner.rid, "",
                                     engine.limits().account_resources);
  if (!made && made.error().code != Code::conflict) return pass(made.error());
  const auto known = engine.catalog().resource(kAttachedItemKind, owner.container, owner.rid);
  if (!known) return fail(Code::not_found, "the item was deleted in the meantime");
  owner.number = known->number;
  return {};
}

}  // namespace orrery::cosmos
