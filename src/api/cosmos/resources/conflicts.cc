// The conflicts of a container: writes of several regions that could not both stay. An account with
// one write region has none, so the feed is empty and no conflict is found by its id.
#include <fmt/format.h>

#include "api/cosmos/query/query_documents.h"
#include "api/cosmos/service.h"
#include "api/cosmos/wire/feed_json.h"
#include "api/cosmos/wire/rid.h"
#include "prices/request_units.h"

namespace orrery::cosmos {

void Service::conflicts(CallPtr call) {
  cluster::RoutingPtr routing = container_of(call);
  if (!routing) return;
  const catalog::Container& container = *routing->container;
  const std::string rid = container_rid(container.database, container.number);
  const std::string_view method = call->method;
  call->response.add("x-ms-content-path", rid);
  if (!call->address.is_feed()) {
    if (method != "GET" && method != "DELETE") return call->method_not_allowed();
    return call->fail({.code = Code::not_found,
                       .message = fmt::format("there is no conflict '{}' in container '{}'",
                                              call->address.child(), container.spec.name)});
  }
  if (call->is_query()) {
    return query_documents(std::move(call), continuations_,
                           {rid, "Conflicts", engine_.limits().query_time_ms}, {});
  }
  if (method != "GET") return call->method_not_allowed();
  std::string json = feed_head(rid, "Conflicts");
  finish_feed(json, 0);
  call->charge(prices::feed_charge(json.size(), 0));
  call->response.add("x-ms-item-count", "0");
  call->reply(200, std::move(json));
}

}  // namespace orrery::cosmos
