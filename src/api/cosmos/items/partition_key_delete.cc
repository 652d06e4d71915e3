// See partition_key_delete.h.
#include "api/cosmos/items/partition_key_delete.h"

#include "api/cosmos/items/item_write.h"
#include "api/cosmos/resources/lookup.h"
#include "api/cosmos/wire/error_body.h"
#include "api/cosmos/wire/partition_key_header.h"
#include "base/log.h"

namespace orrery::cosmos {

void handle_partition_key_delete(const HandlerContext& context, CallPtr call) {
  call->operation = Operation::partition_key_delete;
  if (call->method != "POST") return call->method_not_allowed();
  cluster::RoutingPtr routing = container_of(context, call);
  if (!routing) return;
  const value::KeyDefinition& definition = routing->container->spec.key;
  const std::string_view header = call->headers.partition_key;
  // The beginning of a hierarchical key names many logical partitions, which cannot go at once.
  if (auto key = parse_key_header(header); !header.empty() && key) {
    if (auto levels = check_levels(definition, *key, false); !levels) {
      return call->fail(levels.error(), kSubstatusKeyMismatch);
    }
  }
  auto placement = place_key(header, definition, context.engine.limits());
  if (!placement) return call->fail(placement.error());
  std::vector<partition::Write> transaction(1);
  partition::Write& write = transaction.front();
  write.verb = partition::Verb::purge;
  write.placement = std::move(*placement);
  write.key_text = header;
  write.schema = routing->schema;
  context.engine.write(routing, std::move(transaction),
                       [call = std::move(call), routing](cluster::WriteReply reply) mutable {
                         call->receipt(reply.receipt, *routing);
                         if (reply.error) return call->fail(*reply.error);
                         log::info("deleting all items of a partition key",
                                   {{"container", routing->container->spec.name},
                                    {"range", reply.receipt.range},
                                    {"lsn", reply.receipt.lsn}});
                         call->reply_empty(200);
                       });
}

}  // namespace orrery::cosmos
