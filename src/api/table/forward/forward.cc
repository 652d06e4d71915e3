// See forward.h.
#include "api/table/forward/forward.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "api/table/forward/concern.h"
#include "api/table/forward/hop.h"
#include "cluster/placement.h"

namespace orrery::table {
namespace {

using std::chrono::steady_clock;

constexpr uint32_t kForwardRetryMs = 500;

// From the beginning, a little later: what it concerns may be elsewhere then, or here. `why`: what
// the client is told when it was too often.
void run_again(const HandlerContext& context, CallPtr call, uint64_t catalog_lsn, std::string why) {
  Hop& hop = *call->hop;
  const auto pause = face::Forwarder::pause_before(hop.tries);
  if (++hop.tries >= face::kForwardTriesMax || steady_clock::now() + pause >= hop.deadline ||
      call->client_is_gone()) {
    TableError busy = table_error(ErrorCode::server_busy, std::move(why));
    busy.retry_after_ms = kForwardRetryMs;
    return call->fail(busy);
  }
  context.forwarder->later(pause, catalog_lsn, [&context, call = std::move(call)]() mutable {
    run_call(context, std::move(call));
  });
}

void send(const HandlerContext& context, CallPtr call, const std::string& address,
          bool is_for_catalog);

bool is_repeatable(const Call& call) {
  return call.method == "GET";
}

// A write whose answer was lost: its owner is asked again, for as long as that makes sense.
void ask_again(const HandlerContext& context, CallPtr call, const std::string& address,
               bool is_for_catalog, const Error& error) {
  Hop& hop = *call->hop;
  const auto pause = error.code == Code::not_found || call->client_is_gone()
                         ? std::nullopt
                         : context.forwarder->ask_again(hop.sending, address, hop.deadline);
  if (!pause) {
    // It may have been run there, or be yet.
    return call->fail(
        table_error(ErrorCode::operation_timed_out,
                    error.message + ". It may be done or not: look before you repeat it"));
  }
  context.forwarder->later(*pause, 0,
                           [&context, call = std::move(call), address, is_for_catalog]() mutable {
                             send(context, std::move(call), address, is_for_catalog);
                           });
}

void take_answer(const HandlerContext& context, CallPtr call, const std::string& address,
                 bool is_for_catalog, Result<peer::ForwardAnswer> answer) {
  face::Sending& sending = call->hop->sending;
  if (!answer) {
    const bool is_lost = answer.error().code == Code::internal || sending.asked_again > 0;
    if (is_lost && !is_repeatable(*call)) {
      return ask_again(context, std::move(call), address, is_for_catalog, answer.error());
    }
    sending = {};
    return run_again(context, std::move(call), 0, answer.error().message);
  }
  if (answer->moved) {
    sending = {};
    return run_again(context, std::move(call), answer->catalog_lsn,
                     fmt::format("the node at {} does not have what the request concerns: it is "
                                 "probably being moved",
                                 address));
  }
  if (is_for_catalog && answer->catalog_lsn > context.forwarder->placement().catalog_lsn()) {
    // What was changed is to be seen here too, once the client knows of it.
    const uint64_t lsn = answer->catalog_lsn;
    return context.forwarder->later(
        std::chrono::milliseconds(0), lsn,
        [call = std::move(call), answer = std::move(*answer)]() mutable {
          call->reply_forwarded(static_cast<int>(answer.status), std::move(answer.headers),
                                std::move(answer.body));
        });
  }
  call->reply_forwarded(static_cast<int>(answer->status), std::move(answer->headers),
                        std::move(answer->body));
}

void send(const HandlerContext& context, CallPtr call, const std::string& address,
          bool is_for_catalog) {
  if (call->hop->is_forwarded) return call->reply_moved();
  if (address.empty()) {
    return run_again(
        context, std::move(call), 0,
        is_for_catalog ? "no node has the catalog now" : "no node has the partition now");
  }
  peer::OutgoingRequest request;
  request.face = kFaceName;
  request.method = call->sent_method;
  request.target = call->target;
  request.headers.reserve(call->hop->headers.size());
  for (const net::Header& header : call->hop->headers) {
    request.headers.emplace_back(header.name, header.value);
  }
  request.body = call->body;
  request.tls = call->tls;
  request.client = call->peer;
  request.request_id = call->request_id;
  if (!is_repeatable(*call)) context.forwarder->tell_apart(call->hop->sending, request);
  const auto deadline = call->hop->deadline;
  const Call& sent = *call;
  context.forwarder->send(
      address, std::move(request), deadline, [&sent] { return !sent.client_is_gone(); },
      [&context, call = std::move(call), address,
       is_for_catalog](Result<peer::ForwardAnswer> answer) mutable {
        take_answer(context, std::move(call), address, is_for_catalog, std::move(answer));
      });
}

// Where it is to be run; nothing: here.
std::optional<std::string> elsewhere(const HandlerContext& context, const Concern& concern) {
  const cluster::Placement& placement = context.forwarder->placement();
  if (concern.catalog) return placement.coordinator_address();
  return concern.slot ? placement.address_of(*concern.slot) : std::nullopt;
}

}  // namespace

void begin_hop(const HandlerContext& context, Call& call, const net::Request& request,
               const face::Forwarded* forwarded) {
  if (context.forwarder == nullptr) return;
  call.hop = std::make_unique<Hop>();
  Hop& hop = *call.hop;
  hop.headers = request.headers;
  hop.deadline = steady_clock::now() + face::kForwardTimeMax;
  if (forwarded != nullptr) {
    hop.is_forwarded = true;
    hop.deadline = std::min(hop.deadline, forwarded->deadline);
    call.request_id = forwarded->request_id;
  }
  hop.take_if_elsewhere = [&context](Call& failed, Code code) {
    // A range that was split is found again by the engine. A partition that the engine does not
    // have is somewhere: the plan is about to say where.
    if (code == Code::moved && !elsewhere(context, concern_of(context, failed))) return false;
    CallPtr call_over = failed.take_over();
    if (call_over->hop->is_forwarded) {
      call_over->reply_moved();
    } else {
      run_again(context, std::move(call_over), 0, "the partition is being moved to another node");
    }
    return true;
  };
}

void run_call(const HandlerContext& context, CallPtr call) {
  if (call->hop) {
    const Concern concern = concern_of(context, *call);
    if (const auto address = elsewhere(context, concern)) {
      return send(context, std::move(call), *address, concern.catalog);
    }
  }
  run_here(context, std::move(call));
}

bool ask_catalog_owner(const HandlerContext& context, CallPtr& call) {
  if (context.forwarder == nullptr || !call->hop) return false;
  const auto address = context.forwarder->placement().coordinator_address();
  if (!address) return false;
  send(context, std::move(call), *address, true);
  return true;
}

}  // namespace orrery::table
