// See pages.h. Here: who gets which page. What administration does is in admin.cc.
#include "ops/pages.h"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <utility>

#include "face/http_error.h"
#include "net/loopback.h"

namespace orrery::ops {
namespace {

constexpr std::string_view kHealthPath = "/healthz";
constexpr std::string_view kMetricsPath = "/metrics";
constexpr std::string_view kAdminPrefix = "/admin/";
constexpr std::array<std::string_view, 3> kOperations = {"health", "metrics", "admin"};

// Keeps the answer.
struct Answer final : net::ResponseSink {
  void send(net::Response&& response_in) noexcept override { response = std::move(response_in); }
  void abandon() noexcept override { response.status = 500; }
  net::Response response;
};

net::Response refusal(int status, std::string_view message) {
  net::Response response;
  response.status = status;
  response.add("content-type", "application/json");
  response.body = fmt::format(R"({{"code":"{}","message":)", face::status_name(status));
  face::append_message(response.body, message);
  response.body += '}';
  return response;
}

}  // namespace

Pages::Pages(const face::Context& context, std::vector<const face::Face*> faces,
             std::string metrics_token, std::string history_folder, face::TextRunners text_runners)
    : engine_(context.engine),
      account_(context.account),
      lanes_(context.lanes),
      clock_(context.clock),
      text_runners_(std::move(text_runners)),
      main_face_(faces.front()->name()),
      recorder_(faces.front()->recorder()),
      figures_(context.engine),
      all_containers_(context.engine),
      signatures_(context.clock.now_s()),
      metrics_("ops", kOperations),
      metrics_page_({.engine = context.engine,
                     .lanes = context.lanes,
                     .forwarder = context.forwarder,
                     .own = metrics_,
                     .faces = faces,
                     .token = std::move(metrics_token)}),
      sampler_({.engine = context.engine,
                .clock = context.clock,
                .faces = std::move(faces),
                .folder = std::move(history_folder)}) {}

bool Pages::has(std::string_view target) {
  const std::string_view path = target.substr(0, target.find('?'));
  return path == kHealthPath || path == kMetricsPath || path.starts_with(kAdminPrefix);
}

void Pages::handle(const net::Request& request, net::Responder responder, bool is_own_port) {
  auto call = std::make_unique<PageRequest>(request, std::move(responder), metrics_);
  if (call->path.starts_with(kAdminPrefix)) return admin(std::move(call));
  const bool is_health = call->path == kHealthPath;
  call->operation = is_health ? PageKind::health : PageKind::metrics;
  if (call->method != "GET" && call->method != "HEAD") return call->method_not_allowed();
  if (is_health) return call->reply_json("{\"status\":\"ok\"}");
  metrics_page_.answer(std::move(call), is_own_port);
}

net::Response Pages::refuse(const net::Request& head) {
  const auto answer = std::make_shared<Answer>();
  // Nobody has said yet who it is: the signature of administration covers the body.
  PageRequest call(head, net::Responder(answer), metrics_);
  call.fail({.code = Code::too_large,
             .message = fmt::format("requests to {} have no large body, and none that is announced "
                                    "by Expect",
                                    call.path)});
  return std::move(answer->response);
}

std::optional<net::Response> Front::turn_away(const net::Request& request) const {
  if (options_.local_names_only) {
    const std::string_view host = request.header("host");
    if (!host.empty() && !net::is_loopback(host)) {
      return refusal(403, fmt::format("this server runs with --dev, with a key that everybody "
                                      "knows, and is for clients that call it localhost or "
                                      "127.0.0.1, not '{}'",
                                      host.substr(0, 256)));
    }
  }
  if (face_ == nullptr && !is_for_pages(request)) {
    return refusal(404, "on this port there are /healthz, /metrics and /admin/ alone");
  }
  return std::nullopt;
}

void Front::handle(const net::Request& request, net::Responder responder) {
  if (auto answer = turn_away(request)) return responder.send(std::move(*answer));
  if (is_for_pages(request)) {
    return pages_->handle(request, std::move(responder), options_.is_own_port);
  }
  face_->handle(request, std::move(responder));
}

std::optional<net::Response> Front::refuse(const net::Request& head) {
  if (auto answer = turn_away(head)) return answer;
  if (is_for_pages(head)) return pages_->refuse(head);
  return face_->refuse(head);
}

}  // namespace orrery::ops
