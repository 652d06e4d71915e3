// See concern.h.
#include "api/table/forward/concern.h"

#include <string_view>
#include <utility>

#include "api/table/batch/multipart.h"
#include "api/table/entities/entity.h"
#include "api/table/query/key_ranges.h"
#include "api/table/query/query_entities.h"
#include "api/table/tables/table_store.h"
#include "value/json.h"

namespace orrery::table {
namespace {

Concern about_key(const cluster::Routing& routing, std::string_view partition_key) {
  return {.slot = routing.slot_of(place_partition(routing.container->spec.key, partition_key))};
}

Concern about_new_entity(const cluster::Routing& routing, std::string_view json) {
  auto document = value::JsonDocument::parse(json);
  const value::Node* key = document ? document->root().find(kPartitionKey) : nullptr;
  if (key == nullptr || key->type != value::Type::string) return {};
  return about_key(routing, key->text);
}

Concern about_query(const Call& call, const cluster::Routing& routing,
                    const QueryParameters& parameters) {
  auto start = place_of_page(parameters, call.grant.keys(), routing.container->spec.key);
  if (!start) return {};
  return {.slot = routing.slot_of(*start)};
}

// All of a batch is in one partition: that of its first operation.
Concern about_batch(const HandlerContext& context, const Call& call) {
  auto batch = parse_batch(call.headers.content_type, call.body);
  if (!batch || batch->parts.empty()) return {};
  const BatchPart& part = batch->parts.front();
  const std::string_view target = part.path_and_query();
  auto address = parse_address(target, call.headers.host);
  if (!address) return {};
  const cluster::RoutingPtr routing = find_table(context.engine, address->table);
  if (!routing) return {};
  if (address->resource == Resource::entity) return about_key(*routing, address->partition_key);
  if (address->resource != Resource::entities) return {};
  if (part.method != "GET") return about_new_entity(*routing, part.body);
  const size_t mark = target.find('?');
  auto parameters = parse_query_parameters(
      mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1));
  return parameters ? about_query(call, *routing, *parameters) : Concern{};
}

}  // namespace

Concern concern_of(const HandlerContext& context, const Call& call) {
  const bool reads = call.method == "GET";
  switch (call.address.resource) {
    case Resource::service:
    case Resource::tables:
    case Resource::table:
      return {.catalog = !reads};
    case Resource::batch:
      return about_batch(context, call);
    case Resource::entity:
    case Resource::entities:
      break;
  }
  if (call.parameters.comp == "acl") return {.catalog = !reads};
  const cluster::RoutingPtr routing = find_table(context.engine, call.address.table);
  if (!routing) return {};
  if (call.address.resource == Resource::entity) {
    return about_key(*routing, call.address.partition_key);
  }
  return reads ? about_query(call, *routing, call.parameters)
               : about_new_entity(*routing, call.body);
}

}  // namespace orrery::table
