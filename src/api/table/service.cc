// From a request to the handler of its resource. See service.h.
#include "api/table/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "api/table/auth/authorize.h"
#include "api/table/batch/entity_batch.h"
#include "api/table/entities/entities.h"
#include "api/table/forward/forward.h"
#include "api/table/tables/service_resources.h"
#include "api/table/tables/tables.h"
#include "base/bytes.h"

namespace orrery::table {
namespace {

// X-HTTP-Method: for clients whose network knows no other methods than POST.
TableStatus take_method(Call& call) {
  const std::string_view instead = call.headers.x_http_method;
  if (!instead.empty()) {
    if (call.method != "POST") return refuse(ErrorCode::x_method_not_using_post);
    for (const std::string_view known : {"MERGE", "PATCH", "PUT", "DELETE", "GET"}) {
      if (equals_ignore_case(instead, known)) {
        call.method = known;
        return {};
      }
    }
    return refuse(ErrorCode::x_method_incorrect_value);
  }
  // The same answer; the connection leaves its body out.
  if (call.method == "HEAD") call.method = "GET";
  return {};
}

RequestFacts facts_of(const Call& call, const Clock& clock) {
  RequestFacts facts;
  facts.method = call.sent_method;
  facts.path = call.path();
  facts.query = call.query();
  facts.account = call.address.account;
  facts.secondary = call.address.secondary;
  facts.table = call.address.table;
  facts.authorization = call.headers.authorization;
  facts.x_ms_date = call.headers.x_ms_date;
  facts.date = call.headers.date;
  facts.content_md5 = call.headers.content_md5;
  facts.content_type = call.headers.content_type;
  facts.peer = call.peer;
  facts.tls = call.tls;
  facts.now_s = clock.now_s();
  return facts;
}

// Every version is accepted, later ones than this program too: a version is a day.
TableStatus check_version(std::string_view version) {
  constexpr std::string_view kForm = "dddd-dd-dd";
  const bool is_day = std::ranges::equal(version, kForm, [](char c, char form) {
    return form == 'd' ? c >= '0' && c <= '9' : c == form;
  });
  if (version.empty() || is_day) return {};
  return table::refuse(ErrorCode::invalid_header_value,
                       fmt::format("x-ms-version is '{}': a version is a day like 2019-02-02.",
                                   version.substr(0, 40)));
}

}  // namespace

void run_here(const HandlerContext& context, CallPtr call) {
  switch (call->address.resource) {
    case Resource::service:
      return handle_service(context, std::move(call));
    case Resource::tables:
      return handle_tables(context, std::move(call));
    case Resource::table:
      return handle_table(context, std::move(call));
    case Resource::entities:
      return call->parameters.comp == "acl" ? handle_access_policies(context, std::move(call))
                                            : handle_entities(context, std::move(call));
    case Resource::entity:
      return handle_entity(context, std::move(call));
    case Resource::batch:
      return handle_batch(context, std::move(call));
  }
}

Service::Service(const face::Context& lent, const ServiceOptions& options)
    : context_(lent, options), metrics_(std::string(name()), kMetricNames) {}

void Service::handle(const net::Request& request, net::Responder responder) {
  begin(request, nullptr, std::move(responder));
}

void Service::handle_forwarded(const net::Request& request, const face::Forwarded& forwarded,
                               net::Responder responder) {
  begin(request, &forwarded, std::move(responder));
}

void Service::begin(const net::Request& request, const face::Forwarded* forwarded,
                    net::Responder responder) {
  auto call = std::make_unique<Call>(request, std::move(responder), metrics_, context_.clock);
  begin_hop(context_, *call, request, forwarded);
  call = pass_head(std::move(call));
  if (!call) return;
  run_call(context_, std::move(call));
}

std::optional<net::Response> Service::refuse(const net::Request& head) {
  struct Answer final : net::ResponseSink {
    void send(net::Response&& response_in) noexcept override { response = std::move(response_in); }
    void abandon() noexcept override { response.status = 500; }
    net::Response response;
  };
  const auto answer = std::make_shared<Answer>();
  auto call =
      pass_head(std::make_unique<Call>(head, net::Responder(answer), metrics_, context_.clock));
  if (!call) return std::move(answer->response);
  call->forget();
  return std::nullopt;
}

CallPtr Service::pass_head(CallPtr call) const {
  const auto refused = [&](const TableError& error) {
    call->fail(error);
    return nullptr;
  };
  auto address = parse_address(call->target, call->headers.host);
  if (!address) return refused(address.error());
  call->address = std::move(*address);
  if (call->method == "OPTIONS") {
    handle_preflight(context_, std::move(call));
    return nullptr;
  }
  take_cors_rules(context_, *call);
  if (auto version = check_version(call->headers.x_ms_version); !version) {
    return refused(version.error());
  }
  auto parameters = parse_query_parameters(call->query());
  if (!parameters) return refused(parameters.error());
  call->parameters = std::move(*parameters);
  if (auto taken = take_method(*call); !taken) return refused(taken.error());
  auto grant = authorize(facts_of(*call, context_.clock), context_.accounts);
  if (!grant) return refused(grant.error());
  call->grant = std::move(*grant);
  return call;
}

}  // namespace orrery::table
