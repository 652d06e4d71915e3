// See conflicts.h.
#include "api/cosmos/resources/conflicts.h"

#include <fmt/format.h>

#include "api/cosmos/later.h"
#include "api/cosmos/query/query_documents.h"
#include "api/cosmos/resources/lookup.h"
#include "api/cosmos/wire/feed_json.h"
#include "api/cosmos/wire/rid.h"
#include "prices/request_units.h"

namespace orrery::cosmos {
namespace {

void answer_without_conflicts(const HandlerContext& context, CallPtr call) {
  cluster::RoutingPtr routing = container_of(context, call);
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
    return query_documents(std::move(call), context.continuations,
                           {rid, "Conflicts", context.engine.limits().query_time_ms}, {});
  }
  if (method != "GET") return call->method_not_allowed();
  std::string json = feed_head(rid, "Conflicts");
  finish_feed(json, 0);
  call->charge(prices::feed_charge(json.size(), 0));
  call->response.add("x-ms-item-count", "0");
  call->reply(200, std::move(json));
}

}  // namespace

void handle_conflicts(const HandlerContext& context, CallPtr call) {
  call->operation = Operation::resource;
  later(context, std::move(call), Lane::management, answer_without_conflicts);
}

}  // namespace orrery::cosmos
