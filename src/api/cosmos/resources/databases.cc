// Databases: create, list, read, delete.
#include <algorithm>

#include "api/cosmos/query/query_documents.h"
#include "api/cosmos/resources/container_definition.h"
#include "api/cosmos/resources/offer_document.h"
#include "api/cosmos/service.h"
#include "api/cosmos/wire/etag.h"
#include "api/cosmos/wire/feed_json.h"
#include "api/cosmos/wire/resource_json.h"
#include "prices/request_units.h"

namespace orrery::cosmos {

void Service::create_database(CallPtr call) {
  auto name = parse_database_definition(call->body);
  if (!name) return call->fail(name.error());
  auto throughput =
      parse_throughput_headers(call->headers.offer_throughput, call->headers.autoscale);
  if (!throughput) return call->fail(throughput.error());
  auto made = engine_.create_database({kFaceName, *name}, *throughput);
  if (!made) return call->fail(made.error());
  call->etag(etag_of(**made));
  call->charge(prices::create_charge(0, 0));
  call->reply(201, database_json(**made));
}

void Service::list_databases(CallPtr call) {
  auto page =
      page_of_names(call->headers, continuations_, engine_.catalog().databases(kFaceName),
                    [](const catalog::DatabasePtr& one) -> std::string_view { return one->name; });
  if (!page) return call->fail(page.error());
  std::string json = feed_head("", "Databases");
  for (const catalog::DatabasePtr& one : page->resources) {
    append_feed_element(json, database_json(*one));
  }
  if (!page->continuation.empty()) call->response.add("x-ms-continuation", page->continuation);
  call->charge(prices::feed_charge(json.size(), page->resources.size()));
  finish_feed(json, page->resources.size());
  call->response.add("x-ms-item-count", std::to_string(page->resources.size()));
  call->reply(200, std::move(json));
}

void Service::query_databases(CallPtr call) {
  std::vector<std::string> databases;
  for (const catalog::DatabasePtr& one : engine_.catalog().databases(kFaceName)) {
    databases.push_back(database_json(*one));
  }
  query_documents(std::move(call), continuations_,
                  {"", "Databases", engine_.limits().query_time_ms}, databases);
}

void Service::read_database(CallPtr call) {
  catalog::DatabasePtr database = database_of(call);
  if (!database) return;
  call->etag(etag_of(*database));
  call->charge(prices::read_charge(0));
  call->reply(200, database_json(*database));
}

void Service::delete_database(CallPtr call) {
  catalog::DatabasePtr database = database_of(call);
  if (!database) return;
  if (auto removed = engine_.remove_database(database->number); !removed) {
    return call->fail(removed.error());
  }
  call->charge(prices::remove_charge(0, 0));
  call->reply_empty(204);
}

}  // namespace orrery::cosmos
