// The Table face: Azure Table storage and the Table API of Azure Cosmos DB, over the engine.
//
// handle() runs on an event-loop thread. It takes the address apart (wire/), checks who is asking
// (auth/), and calls the handler of the resource (handler_context.h says what a handler is):
//   tables/    tables and their access policies; the service's properties, stats and CORS
//   entities/  one entity at a time, and the stored form of all
//   query/     $filter, and pages of entities
//   batch/     entity group transactions
// Among several nodes, forward/ sends a request to the one that has what it concerns.
#pragma once

#include <optional>
#include <string_view>

#include "api/table/call.h"
#include "api/table/handler_context.h"
#include "face/face.h"
#include "face/request_metrics.h"
#include "net/http.h"

namespace orrery::table {

class Service final : public face::Face, public net::Handler {
 public:
  Service(const face::Context& lent, const ServiceOptions& options);

  std::string_view name() const override { return kFaceName; }
  net::Handler* http_handler() override { return this; }
  void add_metrics(face::MetricFamilies& all) const override { metrics_.collect(all); }

  void handle(const net::Request& request, net::Responder responder) override;
  void handle_forwarded(const net::Request& request, const face::Forwarded& forwarded,
                        net::Responder responder) override;
  // Authorizes a request with a large body before the body is read into memory.
  std::optional<net::Response> refuse(const net::Request& head) override;

 private:
  void begin(const net::Request& request, const face::Forwarded* forwarded,
             net::Responder responder);
  // Checks the request's head. Null: the call was refused and answered.
  CallPtr pass_head(CallPtr call) const;

  const HandlerContext context_;
  face::RequestMetrics metrics_;
};

}  // namespace orrery::table
