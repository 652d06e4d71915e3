// See service_resources.h.
#include "api/table/tables/service_resources.h"

#include <utility>

#include "api/table/service/cors.h"
#include "api/table/tables/table_store.h"
#include "net/http_date.h"

namespace orrery::table {
namespace {

using face::Lane;

void run_read_properties(const HandlerContext& context, CallPtr call) {
  call->reply_xml(200, service_properties_xml(read_service_properties(context.engine)));
}

void run_write_properties(const HandlerContext& context, CallPtr call) {
  auto properties = parse_service_properties(call->body, read_service_properties(context.engine));
  if (!properties) return call->fail(properties.error());
  if (auto written = write_service_properties(context.engine, *properties); !written) {
    return call->fail(written.error());
  }
  call->reply_empty(202);
}

void run(const HandlerContext& context, CallPtr call, Operation operation, Handler handler) {
  call->set_operation(operation);
  if (auto allowed = call->grant.allows(operation, ""); !allowed) {
    return call->fail(allowed.error());
  }
  later(context, std::move(call), Lane::management, handler);
}

void run_stats(const HandlerContext& context, CallPtr call) {
  call->reply_xml(200, service_stats_xml(net::http_date(context.clock.now_s())));
}

}  // namespace

void handle_service(const HandlerContext& context, CallPtr call) {
  const bool is_service = call->parameters.restype == "service";
  if (is_service && call->parameters.comp == "properties") {
    if (call->method == "GET") {
      return run(context, std::move(call), Operation::get_service_properties, run_read_properties);
    }
    if (call->method == "PUT") {
      return run(context, std::move(call), Operation::set_service_properties, run_write_properties);
    }
    return call->method_not_allowed();
  }
  if (is_service && call->parameters.comp == "stats" && call->method == "GET") {
    // Only the secondary tells how far it is.
    if (!call->address.secondary) {
      return call->fail(table_error(ErrorCode::invalid_query_parameter_value,
                                    "Stats are told by the secondary endpoint only: "
                                    "ACCOUNT-secondary."));
    }
    return run(context, std::move(call), Operation::get_service_stats, run_stats);
  }
  call->fail(table_error(ErrorCode::invalid_uri,
                         "The address names no resource: name a table, Tables, $batch, or "
                         "?restype=service&comp=properties."));
}

void handle_preflight(const HandlerContext& context, CallPtr call) {
  const ServiceProperties properties = read_service_properties(context.engine);
  auto headers = answer_preflight(properties.cors, {.origin = call->headers.origin,
                                                    .method = call->headers.cors_method,
                                                    .request_headers = call->headers.cors_headers});
  if (!headers) return call->fail(headers.error());
  call->response.headers += *headers;
  call->reply_empty(200);
}

void take_cors_rules(const HandlerContext& context, Call& call) {
  if (!call.headers.origin.empty()) call.cors_rules = read_service_properties(context.engine).cors;
}

}  // namespace orrery::table
