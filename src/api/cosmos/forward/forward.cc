// See forward.h.
#include "api/cosmos/forward/forward.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "api/cosmos/forward/concern.h"
#include "api/cosmos/forward/hop.h"
#include "api/cosmos/items/read_terms.h"
#include "cluster/placement.h"
#include "cluster/replicas/replica_reader.h"
#include "face/http_error.h"

namespace orrery::cosmos {
namespace {

using std::chrono::steady_clock;

constexpr uint32_t kForwardRetryMs = 500;

bool is_repeatable(const Call& call) {
  return !call.is_write();
}

void send_back(CallPtr call) {
  call->reply_moved();
}

// From the beginning, a little later: what it concerns may be elsewhere then, or here. `why`: what
// the client is told when it was too often.
void run_again(const HandlerContext& context, CallPtr call, uint64_t catalog_lsn, Error why) {
  Hop& hop = *call->hop;
  const auto pause = face::Forwarder::pause_before(hop.tries);
  if (++hop.tries >= face::kForwardTriesMax || steady_clock::now() + pause >= hop.deadline ||
      call->client_is_gone()) {
    why.code = Code::overloaded;
    why.retry_after_ms = kForwardRetryMs;
    return call->fail(why);
  }
  context.forwarder->later(pause, catalog_lsn, [call = std::move(call)]() mutable {
    const auto run = call->hop->run;
    run(std::move(call));
  });
}

// It may have been run there, or be yet.
void answer_unknown(Call& call, const Error& error) {
  call.fail_with(408, 0,
                 error_body(face::status_name(408),
                            error.message + ". It may be done or not: look before you repeat it",
                            call.activity_id));
}

void send(const HandlerContext& context, CallPtr call, const std::string& address,
          bool is_for_catalog);

// A write whose answer was lost: its owner is asked again, for as long as that makes sense.
void ask_again(const HandlerContext& context, CallPtr call, const std::string& address,
               bool is_for_catalog, const Error& error) {
  Hop& hop = *call->hop;
  const auto pause = error.code == Code::not_found || call->client_is_gone()
                         ? std::nullopt
                         : context.forwarder->ask_again(hop.sending, address, hop.deadline);
  if (!pause) return answer_unknown(*call, error);
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
    return run_again(context, std::move(call), 0, std::move(answer.error()));
  }
  if (answer->moved) {
    sending = {};
    return run_again(context, std::move(call), answer->catalog_lsn,
                     {.message = fmt::format("the node at {} does not have what the request "
                                             "concerns, and nobody that was asked does: it is "
                                             "probably being moved",
                                             address)});
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
  if (address.empty()) {
    return run_again(context, std::move(call), 0,
                     {.message = is_for_catalog ? "no node has the catalog now"
                                                : "no node has the partition now"});
  }
  Hop& hop = *call->hop;
  peer::OutgoingRequest request;
  request.face = kFaceName;
  request.method = call->method;
  request.target = call->target;
  request.headers.reserve(hop.headers.size());
  for (const net::Header& header : hop.headers) {
    request.headers.emplace_back(header.name, header.value);
  }
  request.body = call->body;
  request.tls = call->tls;
  request.client = call->peer;
  request.principal = hop.principal;
  request.request_id = hop.request_id;
  if (!is_repeatable(*call)) context.forwarder->tell_apart(hop.sending, request);
  const auto deadline = hop.deadline;
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

// Whether a replica of this node's may answer. One that then could not is not asked again.
bool can_read_here(const HandlerContext& context, const Call& call, const Concern& concern) {
  if (!concern.slot || call.is_write() || call.hop->is_forwarded || call.hop->tries > 0) {
    return false;
  }
  const cluster::ReplicaReader* replicas = context.forwarder->placement().replicas();
  if (replicas == nullptr) return false;
  auto terms = read_terms_of(call.headers, context.options.consistency);
  if (!terms) return false;
  allow_replicas(*terms, call.headers, context.options.consistency);
  return replicas->has_replica(*concern.slot, terms->demand);
}

}  // namespace

void begin_hop(const HandlerContext& context, Call& call, const net::Request& request,
               const face::Forwarded* forwarded, Handler run) {
  call.hop = std::make_unique<Hop>();
  Hop& hop = *call.hop;
  hop.headers = request.headers;
  hop.deadline = steady_clock::now() + face::kForwardTimeMax;
  if (forwarded != nullptr) {
    hop.is_forwarded = true;
    hop.principal = forwarded->principal;
    hop.request_id = forwarded->request_id;
    hop.deadline = std::min(hop.deadline, forwarded->deadline);
  } else {
    hop.request_id = call.activity_id;
  }
  hop.run = [&context, run](CallPtr again) { run(context, std::move(again)); };
  hop.take_if_elsewhere = [&context](Call& failed, Code code) {
    // A range that is gone is the client's to know of. A partition that the engine does not have
    // is somewhere: the plan is about to say where.
    if (code == Code::moved && !elsewhere(context, concern_of(context, failed))) return false;
    CallPtr call_over = failed.take_over();
    if (call_over->hop->is_forwarded) {
      send_back(std::move(call_over));
    } else {
      run_again(context, std::move(call_over), 0,
                {.message = "the partition is being moved to another node"});
    }
    return true;
  };
}

bool forward_elsewhere(const HandlerContext& context, CallPtr& call) {
  const Concern concern = concern_of(context, *call);
  const std::optional<std::string> address = elsewhere(context, concern);
  if (!address) return false;
  call->hop->reads_replica = can_read_here(context, *call, concern);
  if (call->hop->reads_replica) return false;
  if (call->hop->is_forwarded) {
    send_back(std::move(call));
  } else {
    send(context, std::move(call), *address, concern.catalog);
  }
  return true;
}

bool ask_catalog_owner(const HandlerContext& context, CallPtr& call) {
  if (context.forwarder == nullptr) return false;
  const std::optional<std::string> address = context.forwarder->placement().coordinator_address();
  if (!address) return false;
  if (call->hop->is_forwarded) {
    send_back(std::move(call));
  } else {
    send(context, std::move(call), *address, true);
  }
  return true;
}

}  // namespace orrery::cosmos
