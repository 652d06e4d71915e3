// See partition_ranges.h.
#include "api/cosmos/resources/partition_ranges.h"

#include "api/cosmos/later.h"
#include "api/cosmos/resources/lookup.h"
#include "api/cosmos/wire/resource_json.h"
#include "api/cosmos/wire/rid.h"
#include "prices/request_units.h"

namespace orrery::cosmos {
namespace {

void read_partition_ranges(const HandlerContext& context, CallPtr call) {
  cluster::RoutingPtr routing = container_of(context, call);
  if (!routing) return;
  const catalog::Container& container = *routing->container;
  const std::string etag = std::to_string(container.map->version);
  call->etag(etag);
  call->charge(prices::read_charge(0));
  call->response.add("x-ms-content-path", container_rid(container.database, container.number));
  std::string_view known = call->headers.if_none_match;
  if (known.size() >= 2 && known.front() == '"') known = known.substr(1, known.size() - 2);
  if (!call->headers.a_im.empty() && known == etag) return call->reply_empty(304);
  call->response.add("x-ms-item-count", std::to_string(container.map->ranges.size()));
  call->reply(200,
              pkranges_json(container,
                            [&](const catalog::PartitionRange& range) -> std::optional<uint64_t> {
                              // Reading the map is no reason to open files: only those that are
                              // open tell.
                              auto partition = routing->slot_of(range.min)->opened();
                              if (!partition) return std::nullopt;
                              return partition->lsn();
                            }));
}

}  // namespace

void handle_partition_ranges(const HandlerContext& context, CallPtr call) {
  call->operation = Operation::partition_ranges;
  if (call->method != "GET") return call->method_not_allowed();
  later(context, std::move(call), Lane::management, read_partition_ranges);
}

}  // namespace orrery::cosmos
