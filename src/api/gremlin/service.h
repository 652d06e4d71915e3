// The Gremlin face: traversals over graphs that are containers of another face, so that both see
// the same items.
//
// A client opens a WebSocket at /gremlin. Its messages are read on the event loop (connection.h);
// each traversal runs on a thread of the lanes (evaluation.h):
//   wire/       messages and GraphSON
//   auth/       SASL PLAIN
//   parse/      text to a tree
//   traversal/  the steps, over any Graph
//   graph/      the Graph over the engine
#pragma once

#include <memory>
#include <string_view>

#include "api/gremlin/handler_context.h"
#include "face/face.h"
#include "face/text_runner.h"
#include "net/http.h"

namespace orrery::gremlin {

class Service final : public face::Face, public net::Handler, public face::TextRunner {
 public:
  // `items`: of the face that has the containers. Both outlive it.
  Service(const face::Context& lent, const face::SharedItems& items, const ServiceOptions& options);

  std::string_view name() const override { return kFaceName; }
  net::Handler* http_handler() override { return this; }
  void add_metrics(face::MetricFamilies& all) const override { metrics_.collect(all); }
  void handle(const net::Request& request, net::Responder responder) override;
  void run_text(face::TextRequest request, net::Responder responder) override;
  // The writes of traversals at other nodes, one partition key each.
  void handle_forwarded(const net::Request& request, const face::Forwarded& forwarded,
                        net::Responder responder) override;

 private:
  face::RequestMetrics metrics_;
  const HandlerContext context_;
};

}  // namespace orrery::gremlin
