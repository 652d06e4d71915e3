// From a request to the handler of its resource. See service.h.
#include "api/cosmos/service.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "api/cosmos/auth/authorization.h"
#include "api/cosmos/auth/authorize.h"
#include "api/cosmos/direct/addresses.h"
#include "api/cosmos/direct/stale_replica.h"
#include "api/cosmos/forward/forward.h"
#include "api/cosmos/forward/hop.h"
#include "api/cosmos/items/items.h"
#include "api/cosmos/items/partition_key_delete.h"
#include "api/cosmos/resources/account.h"
#include "api/cosmos/resources/conflicts.h"
#include "api/cosmos/resources/containers.h"
#include "api/cosmos/resources/databases.h"
#include "api/cosmos/resources/named_resources.h"
#include "api/cosmos/resources/offers.h"
#include "api/cosmos/resources/partition_ranges.h"
#include "api/cosmos/script/procedures.h"
#include "api/cosmos/settings.h"
#include "base/bytes.h"

namespace orrery::cosmos {
namespace {

// It changes nothing: items are indexed by the container's policy, as the vendor's service answers
// queries whatever the directive was. A value that is none would be a mistake of the client's.
Status check_indexing_directive(std::string_view text) {
  for (std::string_view known : {"", "Default", "Include", "Exclude"}) {
    if (equals_ignore_case(text, known)) return {};
  }
  return fail(
      Code::invalid,
      fmt::format("x-ms-indexing-directive '{}' is not one of Include, Exclude, Default", text));
}

// What lies in a container: /dbs/{}/colls/{}/…
void run_in_container(const HandlerContext& context, CallPtr call) {
  const ResourceAddress& address = call->address;
  const std::string_view type = address.segments[4];
  if (type == "docs" && address.count == 6) return handle_item(context, std::move(call));
  if (type == "docs" && address.count == 5) return handle_items(context, std::move(call));
  if (type == "pkranges" && address.count == 5) {
    return handle_partition_ranges(context, std::move(call));
  }
  if (type == "conflicts" && address.count <= 6) return handle_conflicts(context, std::move(call));
  if (type == "operations" && address.count == 6 && address.child() == "partitionkeydelete") {
    return handle_partition_key_delete(context, std::move(call));
  }
  if (type == "sprocs" && address.count == 6 && call->method == "POST") {
    return handle_procedure(context, std::move(call));
  }
  handle_named_resources(context, std::move(call));
}

// By the handler of its resource, on this node.
void run_here(const HandlerContext& context, CallPtr call) {
  const ResourceAddress& address = call->address;
  if (address.count == 0) return handle_account(context, std::move(call));
  if (address.segments[0] == "offers") return handle_offers(context, std::move(call));
  if (asks_for_addresses(address)) return direct::handle_addresses(context, std::move(call));
  if (address.segments[0] != "dbs") {
    return call->fail(Error{.code = Code::invalid,
                            .message = fmt::format("the path {} is not one of this API: it begins "
                                                   "with /dbs or /offers",
                                                   call->path())});
  }
  if (address.count <= 2) return handle_databases(context, std::move(call));
  if (address.segments[2] != "colls") return handle_named_resources(context, std::move(call));
  if (address.count <= 4) return handle_containers(context, std::move(call));
  run_in_container(context, std::move(call));
}

// Here, or at the node that has what it concerns.
void run_call(const HandlerContext& context, CallPtr call) {
  if (call->hop && forward_elsewhere(context, call)) return;
  run_here(context, std::move(call));
}

}  // namespace

Service::Service(const face::Context& lent, const ServiceOptions& options)
    : context_(lent, options),
      metrics_(std::string(name()), kOperationNames),
      recorder_(lent.engine.limits().advise_requests, lent.clock) {}

void Service::handle(const net::Request& request, net::Responder responder) {
  begin(request, nullptr, std::move(responder));
}

void Service::handle_forwarded(const net::Request& request, const face::Forwarded& forwarded,
                               net::Responder responder) {
  begin(request, &forwarded, std::move(responder));
}

void Service::begin(const net::Request& request, const face::Forwarded* forwarded,
                    net::Responder responder) {
  auto call =
      std::make_unique<Call>(request, std::move(responder), metrics_, context_.clock.steady_us());
  if (context_.forwarder != nullptr) begin_hop(context_, *call, request, forwarded, run_call);
  call = pass_head(std::move(call));
  if (!call) return;
  if (auto taken = call->take_binary_body(context_.engine.limits().item_bytes); !taken) {
    return call->fail(taken.error());
  }
  call->recorder = &recorder_;
  // The same answer; the connection leaves its body out.
  if (call->method == "HEAD") call->method = "GET";
  run_call(context_, std::move(call));
}

std::optional<net::Response> Service::refuse(const net::Request& head) {
  struct Answer final : net::ResponseSink {
    void send(net::Response&& response_in) noexcept override { response = std::move(response_in); }
    void abandon() noexcept override { response.status = 500; }
    net::Response response;
  };
  const auto answer = std::make_shared<Answer>();
  if (pass_head(std::make_unique<Call>(head, net::Responder(answer), metrics_,
                                       context_.clock.steady_us()))) {
    return std::nullopt;
  }
  return std::move(answer->response);
}

void Service::listens_at(std::string_view port, uint16_t number) {
  if (port == kDirectPort) context_.direct_port = number;
}

net::ListenerSpec Service::listener(std::string_view port) {
  if (port != kDirectPort) return {};
  const Limits& limits = context_.engine.limits();
  net::ListenerSpec spec;
  spec.tls = net::TlsMode::on;
  spec.sessions = direct::direct_sessions(*this, {.head_bytes_max = limits.request_header_bytes,
                                                  .payload_bytes_max = limits.request_body_bytes});
  return spec;
}

void Service::handle_direct(const direct::DirectRequest& request, net::Responder responder) {
  if (auto stale = direct::refuse_stale(context_, request)) {
    return responder.send(std::move(*stale));
  }
  begin(request.http, nullptr, std::move(responder));
}

std::optional<net::Response> Service::refuse_direct(const direct::DirectRequest& head) {
  return refuse(head.http);
}

CallPtr Service::pass_head(CallPtr call) const {
  const auto refused = [&](const Error& error, uint32_t substatus = 0) {
    call->fail(error, substatus);
    return nullptr;
  };
  if (auto read = take_apart(call->target, call->address); !read) return refused(read.error());
  const bool is_authorized = call->hop && !call->hop->principal.empty();
  if (!is_authorized) {
    auto principal = authorize(context_, *call);
    if (!principal) {
      // This node may not have heard of a token's permission yet.
      if (context_.forwarder != nullptr && principal.error().error.code == Code::forbidden &&
          resource_signature(call->headers.authorization)) {
        if (!call->hop) return call;  // the head alone: asked again with the body
        if (ask_catalog_owner(context_, call)) return nullptr;
      }
      return refused(principal.error().error, principal.error().substatus);
    }
    if (call->hop) call->hop->principal = *principal;
  }
  // Said of every request, though only reads cost more or less by it.
  if (const std::string_view asked = call->headers.consistency; !asked.empty()) {
    auto level = consistency_factor(asked, context_.options.consistency);
    if (!level) return refused(level.error());
  }
  if (auto known = check_indexing_directive(call->headers.indexing_directive); !known) {
    return refused(known.error());
  }
  return call;
}

}  // namespace orrery::cosmos
