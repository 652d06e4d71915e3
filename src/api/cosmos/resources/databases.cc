// See databases.h.
#include "api/cosmos/resources/databases.h"

#include "api/cosmos/foreign/foreign_database.h"
#include "api/cosmos/later.h"
#include "api/cosmos/query/query_documents.h"
#include "api/cosmos/resources/container_definition.h"
#include "api/cosmos/resources/list_answer.h"
#include "api/cosmos/resources/lookup.h"
#include "api/cosmos/resources/offer_document.h"
#include "api/cosmos/wire/etag.h"
#include "api/cosmos/wire/resource_json.h"
#include "prices/request_units.h"

namespace orrery::cosmos {
namespace {

void create_database(const HandlerContext& context, CallPtr call) {
  auto name = parse_database_definition(call->body);
  if (!name) return call->fail(name.error());
  if (auto checked = check_own_id(context.engine.catalog(), context.options.other_faces, *name);
      !checked) {
    return call->fail(checked.error());
  }
  auto throughput =
      parse_throughput_headers(call->headers.offer_throughput, call->headers.autoscale);
  if (!throughput) return call->fail(throughput.error());
  auto made = context.engine.create_database({kFaceName, *name}, *throughput);
  if (!made) return call->fail(made.error());
  call->etag(etag_of(**made));
  call->charge(prices::create_charge(0, 0));
  call->reply(201, database_json(**made));
}

// With its place in the list of all. Those of other faces come after all own ones: no id begins
// with the byte FF.
struct ListedDatabase {
  catalog::DatabasePtr database;
  std::string place;
  const catalog::Database& operator*() const { return *database; }
};

std::vector<ListedDatabase> listed_databases(const catalog::Catalog& catalog) {
  std::vector<ListedDatabase> all;
  for (const catalog::DatabasePtr& one : catalog.databases(kFaceName)) {
    all.push_back({one, one->name});
  }
  for (const catalog::DatabasePtr& one : foreign_databases(catalog)) {
    all.push_back({one, std::string("\xFF") + one->face + '\0' + one->name});
  }
  return all;
}

void list_databases(const HandlerContext& context, CallPtr call) {
  answer_list(
      *call, context.continuations, "", "Databases", listed_databases(context.engine.catalog()),
      [](const ListedDatabase& one) -> std::string_view { return one.place; },
      [](const catalog::Database& one) { return database_json(one); });
}

void query_databases(const HandlerContext& context, CallPtr call) {
  std::vector<std::string> databases;
  for (const ListedDatabase& one : listed_databases(context.engine.catalog())) {
    databases.push_back(database_json(*one));
  }
  query_documents(std::move(call), context.continuations,
                  {"", "Databases", context.engine.limits().query_time_ms}, databases);
}

void read_database(const HandlerContext& context, CallPtr call) {
  catalog::DatabasePtr database = database_of(context, call);
  if (!database) return;
  call->etag(etag_of(*database));
  call->charge(prices::read_charge(0));
  call->reply(200, database_json(*database));
}

void delete_database(const HandlerContext& context, CallPtr call) {
  catalog::DatabasePtr database = database_of(context, call);
  if (!database) return;
  if (auto removed = context.engine.remove_database(database->number); !removed) {
    return call->fail(removed.error());
  }
  call->charge(prices::remove_charge(0, 0));
  call->reply_empty(204);
}

Handler database_verb(const Call& call) {
  if (call.address.is_feed()) {
    if (call.method == "GET") return list_databases;
    if (call.is_query()) return query_databases;
    return call.method == "POST" ? create_database : nullptr;
  }
  if (call.method == "GET") return read_database;
  return call.method == "DELETE" ? delete_database : nullptr;
}

}  // namespace

void handle_databases(const HandlerContext& context, CallPtr call) {
  call->operation = Operation::database;
  const Handler verb = database_verb(*call);
  if (verb == nullptr) return call->method_not_allowed();
  later(context, std::move(call), Lane::management, verb);
}

}  // namespace orrery::cosmos
