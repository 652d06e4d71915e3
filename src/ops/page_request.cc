// See call.h.
#include "ops/page_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/bytes.h"
#include "base/survive.h"
#include "face/http_error.h"

namespace orrery::ops {
namespace {

int64_t steady_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

PageRequest::PageRequest(const net::Request& request, net::Responder responder,
                         face::RequestMetrics& metrics)
    : method(request.method),
      target(request.target),
      path(target.substr(0, target.find('?'))),
      body(request.body),
      tls(request.tls),
      peer(request.peer),
      authorization(request.header("authorization")),
      signature({.method = method,
                 .target = target,
                 .authorization = authorization,
                 .date = request.header("x-orrery-date"),
                 .nonce = request.header("x-orrery-nonce"),
                 .content_sha256 = request.header("x-orrery-content-sha256")}),
      responder_(std::move(responder)),
      metrics_(metrics),
      started_us_(steady_us()) {}

PageRequest::~PageRequest() {
  if (answered_) return;
  // Should there be no memory for this either, the Responder sees to it.
  survive("answering a request", [&] {
    headers.clear();
    fail({.code = Code::overloaded,
          .message = "the server ran out of memory or threads while it was at this request, which "
                     "may be done or not: look, or try again"});
  });
}

std::string PageRequest::parameter(std::string_view name) const {
  std::string_view rest = target.substr(std::min(target.size(), path.size() + 1));
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    const size_t equals = one.find('=');
    if (equals != std::string_view::npos && one.substr(0, equals) == name) {
      auto decoded = percent_decode(one.substr(equals + 1));
      return decoded ? *decoded : "";
    }
  }
  return "";
}

void PageRequest::reply(int status, std::string_view content_type, std::string text) {
  net::Response response;
  response.status = status;
  response.headers = std::move(headers);
  response.add("content-type", content_type);
  response.body = std::move(text);
  reply(std::move(response));
}

void PageRequest::reply(net::Response response) {
  metrics_.done(static_cast<size_t>(operation), response.status, steady_us() - started_us_);
  answered_ = true;
  responder_.send(std::move(response));
}

void PageRequest::fail_with(int status, std::string_view message) {
  std::string json = fmt::format(R"({{"code":"{}","message":)", face::status_name(status));
  face::append_message(json, message);
  json += '}';
  reply(status, "application/json", std::move(json));
}

void PageRequest::fail(const Error& error) {
  if (error.retry_after_ms > 0) {
    headers += fmt::format("retry-after: {}\r\n", (error.retry_after_ms + 999) / 1000);
  }
  fail_with(face::http_status(error.code), error.message);
}

void PageRequest::method_not_allowed() {
  fail_with(405, fmt::format("{} is not possible on {}", method, path));
}

Error no_such_container(std::string_view database, std::string_view container) {
  return {
      .code = Code::not_found,
      .message = fmt::format("there is no container '{}' in database '{}'", container, database)};
}

std::string quoted(std::string_view text) {
  std::string json;
  face::append_message(json, text);
  return json;
}

}  // namespace orrery::ops
