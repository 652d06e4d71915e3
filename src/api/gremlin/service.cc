// See service.h.
#include "api/gremlin/service.h"

#include <array>
#include <memory>
#include <utility>

#include "api/gremlin/connection.h"
#include "api/gremlin/evaluation.h"
#include "api/gremlin/page_answers.h"
#include "net/websocket.h"

namespace orrery::gremlin {
namespace {

constexpr std::array<std::string_view, 5> kOperations = {"eval", "bytecode", "close",
                                                         "authentication", "other"};

}  // namespace

Service::Service(const face::Context& lent, const face::SharedItems& items,
                 const ServiceOptions& options)
    : metrics_(std::string(name()), kOperations), context_(lent, items, options, metrics_) {}

void Service::handle(const net::Request& request, net::Responder responder) {
  const std::string_view path = request.target.substr(0, request.target.find('?'));
  if (path != "/gremlin" && path != "/gremlin/" && path != "/") {
    net::Response missing;
    missing.status = 404;
    missing.body = "graphs are at the WebSocket /gremlin\n";
    return responder.send(std::move(missing));
  }
  net::WebSocketLimits limits;
  limits.send_queue_bytes_max = kSendQueueBytesMax;
  responder.send(
      net::accept_websocket(request, limits, {}, std::make_unique<Connection>(context_)));
}

void Service::run_text(face::TextRequest request, net::Responder responder) {
  auto answers = std::make_unique<PageAnswers>(std::move(responder));
  auto message = eval_message(request.text, request.bindings);
  if (!message) {
    Attributes attributes;
    attributes.status_code = 1004;
    return answers->fail({.code = status::kMalformed,
                          .is_parsing = true,
                          .message = std::move(message.error().message)},
                         attributes, false);
  }
  auto login = std::make_shared<const Login>(Login{.database = std::move(request.database),
                                                   .graph = std::move(request.container),
                                                   .may_write = request.may_write,
                                                   .token = {}});
  start_evaluation(context_, std::move(answers), std::move(login), std::move(*message),
                   GraphSon::untyped);
}

void Service::handle_forwarded(const net::Request& request, const face::Forwarded& forwarded,
                               net::Responder responder) {
  if (context_.anywhere && request.method == face::ItemsAnywhere::kMethod) {
    return context_.anywhere->answer(request, forwarded, std::move(responder));
  }
  Face::handle_forwarded(request, forwarded, std::move(responder));
}

}  // namespace orrery::gremlin
