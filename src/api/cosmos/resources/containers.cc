// See containers.h.
#include "api/cosmos/resources/containers.h"

#include <fmt/format.h>

#include "api/cosmos/foreign/foreign_database.h"
#include "api/cosmos/items/item_body.h"
#include "api/cosmos/later.h"
#include "api/cosmos/query/query_documents.h"
#include "api/cosmos/resources/container_definition.h"
#include "api/cosmos/resources/container_policies.h"
#include "api/cosmos/resources/definition_fields.h"
#include "api/cosmos/resources/list_answer.h"
#include "api/cosmos/resources/lookup.h"
#include "api/cosmos/resources/offer_document.h"
#include "api/cosmos/resources/resource_kinds.h"
#include "api/cosmos/wire/etag.h"
#include "api/cosmos/wire/partition_key_header.h"
#include "api/cosmos/wire/resource_json.h"
#include "api/cosmos/wire/rid.h"
#include "prices/request_units.h"

namespace orrery::cosmos {
namespace {

constexpr size_t kKeysInStatistics = 10;

// If-Match on the container itself.
Status check_etag(const RequestHeaders& headers, const catalog::Container& container) {
  if (headers.if_match.empty() || headers.if_match == "*") return {};
  auto asked = parse_etag_condition(headers.if_match);
  if (!asked || asked == parse_etag(etag_of(container))) return {};
  return fail(Code::precondition_failed,
              fmt::format("the container's etag is now \"{}\", not the {} that If-Match asks for",
                          etag_of(container), headers.if_match));
}

// Whose container it is, by resource id and by name.
void add_owner(Call& call, const catalog::Database& database) {
  call.response.add("x-ms-content-path", database_rid(database.number));
  call.response.add("x-ms-alt-content-path", name_path(database));
}

// How much a container holds and may hold, and how far its index is.
void add_usage(Call& call, const std::vector<cluster::PartitionStatus>& partitions,
               const Limits& limits) {
  uint64_t bytes = 0;
  uint64_t items = 0;
  for (const cluster::PartitionStatus& one : partitions) {
    bytes += one.usage.bytes;
    items += one.usage.items;
  }
  const uint64_t quota_kb = limits.container_bytes / 1024;
  call.response.add("x-ms-resource-quota",
                    fmt::format("documentSize={};documentsSize={};documentsCount=-1;"
                                "collectionSize={};",
                                limits.item_bytes / 1024, quota_kb, quota_kb));
  call.response.add("x-ms-resource-usage",
                    fmt::format("documentSize={};documentsSize={};documentsCount={};"
                                "collectionSize={};",
                                bytes / 1024, bytes / 1024, items, bytes / 1024));
  call.response.add("x-ms-documentdb-collection-index-transformation-progress",
                    std::to_string(cluster::indexed_percent(partitions)));
}

// Of each range: what it holds, and which of the largest keys of the container are in it.
std::string statistics_json(const std::vector<cluster::PartitionStatus>& partitions,
                            const std::vector<partition::Partition::LogicalPartition>& largest_keys,
                            const value::KeyDefinition& definition) {
  std::string json = "[";
  for (const cluster::PartitionStatus& one : partitions) {
    std::string keys = "[";
    for (const auto& logical : largest_keys) {
      auto key = parse_key_header(logical.key_text);
      if (!key || !check_levels(definition, *key, false)) continue;
      const std::string placement = value::place(definition, *key);
      if (placement < one.range.min || placement >= one.range.max) continue;
      if (keys.size() > 1) keys += ',';
      keys += fmt::format(R"({{"partitionKey":{},"sizeInKB":{}}})", logical.key_text,
                          logical.usage.bytes / 1024);
    }
    if (json.size() > 1) json += ',';
    json += fmt::format(R"({{"id":"{}","sizeInKB":{},"documentCount":{},"partitionKeys":{}]}})",
                        one.range.id, one.usage.bytes / 1024, one.usage.items, keys);
  }
  json += ']';
  return json;
}

// Keys are never deleted, so those that are there stay.
Status check_encryption_keys(const catalog::Catalog& catalog, const catalog::Database& database,
                             const catalog::ContainerSpec& spec) {
  auto ids = client_encryption_keys(spec.face_json);
  if (!ids) return pass(ids.error());
  for (const std::string& id : *ids) {
    if (catalog.resource(kClientEncryptionKeyKind, database.number, id)) continue;
    return fail(Code::invalid,
                fmt::format("ClientEncryptionKey with id '[{}]' does not exist. Create it in "
                            "database '{}' first",
                            id, database.name));
  }
  return {};
}

void create_container(const HandlerContext& context, CallPtr call) {
  catalog::DatabasePtr database = database_of(context, call);
  if (!database) return;
  auto spec = parse_container_definition(call->body, call->headers.version);
  if (!spec) return call->fail(spec.error());
  auto throughput =
      parse_throughput_headers(call->headers.offer_throughput, call->headers.autoscale);
  if (!throughput) return call->fail(throughput.error());
  if (auto known = check_encryption_keys(context.engine.catalog(), *database, *spec); !known) {
    return call->fail(known.error());
  }
  auto made = context.engine.create_container(database->number, std::move(*spec), *throughput);
  if (!made) return call->fail(made.error());
  const catalog::Container& container = *(*made)->container;
  call->etag(etag_of(container));
  call->charge(prices::create_charge(0, 0));
  add_owner(*call, *database);
  call->reply(201, container_json(*database, container));
}

void list_containers(const HandlerContext& context, CallPtr call) {
  catalog::DatabasePtr database = database_of(context, call);
  if (!database) return;
  answer_list(
      *call, context.continuations, database_rid(database->number), "DocumentCollections",
      context.engine.catalog().containers(database->number),
      [](const catalog::ContainerPtr& one) -> std::string_view { return one->spec.name; },
      [&](const catalog::Container& one) { return container_json(*database, one); });
}

void query_containers(const HandlerContext& context, CallPtr call) {
  catalog::DatabasePtr database = database_of(context, call);
  if (!database) return;
  std::vector<std::string> containers;
  for (const catalog::ContainerPtr& one : context.engine.catalog().containers(database->number)) {
    containers.push_back(container_json(*database, *one));
  }
  query_documents(std::move(call), context.continuations,
                  {database_rid(database->number), "DocumentCollections",
                   context.engine.limits().query_time_ms},
                  containers);
}

void read_container(const HandlerContext& context, CallPtr call) {
  cluster::RoutingPtr routing = container_of(context, call);
  if (!routing) return;
  const catalog::Container& container = *routing->container;
  std::string json = container_json(*routing->database, container);
  const bool wants_statistics = is_true(call->headers.populate_partition_statistics);
  if (is_true(call->headers.populate_quota) || wants_statistics) {
    auto statuses = context.engine.status(container.number);
    if (!statuses) return call->fail(statuses.error());
    if (is_true(call->headers.populate_quota)) add_usage(*call, *statuses, context.engine.limits());
    if (wants_statistics) {
      auto largest = context.engine.largest(container.number, kKeysInStatistics);
      if (!largest) return call->fail(largest.error());
      json.pop_back();
      append_member(json, "statistics", statistics_json(*statuses, *largest, container.spec.key));
      json += '}';
    }
  }
  call->etag(etag_of(container));
  call->charge(prices::read_charge(0));
  add_owner(*call, *routing->database);
  call->reply(200, std::move(json));
}

void replace_container(const HandlerContext& context, CallPtr call) {
  cluster::RoutingPtr routing = container_of(context, call);
  if (!routing) return;
  auto spec = parse_container_definition(call->body, call->headers.version);
  if (!spec) return call->fail(spec.error());
  if (auto checked = check_replacement(routing->container->spec, *spec); !checked) {
    return call->fail(checked.error());
  }
  if (auto checked = check_etag(call->headers, *routing->container); !checked) {
    return call->fail(checked.error());
  }
  auto replaced = context.engine.replace_container(routing->container->number, std::move(*spec));
  if (!replaced) return call->fail(replaced.error());
  const catalog::Container& container = *(*replaced)->container;
  call->etag(etag_of(container));
  call->charge(prices::replace_charge(0, 0, 0));
  add_owner(*call, *routing->database);
  call->reply(200, container_json(*routing->database, container));
}

void delete_container(const HandlerContext& context, CallPtr call) {
  cluster::RoutingPtr routing = container_of(context, call);
  if (!routing) return;
  if (auto checked = check_etag(call->headers, *routing->container); !checked) {
    return call->fail(checked.error());
  }
  if (auto removed = context.engine.remove_container(routing->container->number); !removed) {
    return call->fail(removed.error());
  }
  call->charge(prices::remove_charge(0, 0));
  call->reply_empty(204);
}

Handler container_verb(const Call& call) {
  if (call.address.is_feed()) {
    if (call.method == "GET") return list_containers;
    if (call.is_query()) return query_containers;
    return call.method == "POST" ? create_container : nullptr;
  }
  if (call.method == "GET") return read_container;
  if (call.method == "PUT") return replace_container;
  return call.method == "DELETE" ? delete_container : nullptr;
}

}  // namespace

void handle_containers(const HandlerContext& context, CallPtr call) {
  call->operation = Operation::container;
  const Handler verb = container_verb(*call);
  if (verb == nullptr) return call->method_not_allowed();
  later(context, std::move(call), Lane::management, verb);
}

}  // namespace orrery::cosmos
