// The Cosmos DB face: translates HTTP requests of the official SDKs into engine operations, and the
// results back.
//
// handle() runs on an event-loop thread. It checks the head of the request, above all its
// authorization (auth/authorize.h), and calls the handler of the resource that the path names
// (handler_context.h says what a handler is):
//   resources/  account, databases, containers, named_resources (users, permissions, scripts,
//               encryption keys, attachments), offers, partition_ranges, conflicts
//   items/      items (one at a time), batch, item_feed, change_feed, partition_key_delete
//   query/      query_items
//   script/     procedures, triggered_write
//   direct/     addresses; and RNTBD, a second protocol on a port of its own, whose requests become
//               requests over HTTP for the same handlers
// Databases of other faces are found by the same handlers, to be read: foreign/ has what is shown
// of them.
#pragma once

#include <optional>
#include <string_view>

#include "advise/recorder.h"
#include "api/cosmos/call.h"
#include "api/cosmos/direct/direct_session.h"
#include "api/cosmos/handler_context.h"
#include "face/face.h"
#include "face/request_metrics.h"
#include "net/http.h"

namespace orrery::cosmos {

class Service final : public face::Face, public net::Handler, public direct::DirectHandler {
 public:
  Service(const face::Context& lent, const ServiceOptions& options);

  std::string_view name() const override { return kFaceName; }
  net::Handler* http_handler() override { return this; }
  net::ListenerSpec listener(std::string_view port) override;  // of direct mode
  void listens_at(std::string_view port, uint16_t number) override;
  void add_metrics(face::MetricFamilies& all) const override { metrics_.collect(all); }
  const advise::Recorder* recorder() const override { return &recorder_; }

  void handle(const net::Request& request, net::Responder responder) override;
  void handle_forwarded(const net::Request& request, const face::Forwarded& forwarded,
                        net::Responder responder) override;
  // Authorizes a request with a large body before the body is read into memory.
  std::optional<net::Response> refuse(const net::Request& head) override;
  // The same over RNTBD.
  void handle_direct(const direct::DirectRequest& request, net::Responder responder) override;
  std::optional<net::Response> refuse_direct(const direct::DirectRequest& head) override;

 private:
  void begin(const net::Request& request, const face::Forwarded* forwarded,
             net::Responder responder);
  // Checks the request's head. Null: the call was refused and answered.
  CallPtr pass_head(CallPtr call) const;

  HandlerContext context_;
  face::RequestMetrics metrics_;
  advise::Recorder recorder_;
};

}  // namespace orrery::cosmos
