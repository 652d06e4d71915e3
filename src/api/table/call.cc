// See call.h.
#include "api/table/call.h"

#include <array>
#include <random>
#include <utility>

#include "api/table/forward/hop.h"
#include "api/table/service/cors.h"
#include "api/table/wire/ticks.h"
#include "base/bytes.h"
#include "base/survive.h"
#include "face/forward.h"
#include "value/json.h"

namespace orrery::table {
namespace {

constexpr uint32_t kRetryMs = 100;
// The newest version of the API that this face knows. Every version is taken for it.
constexpr std::string_view kVersion = "2026-06-06";

// What goes back in a header must not be able to make another.
void append_safe(std::string& out, std::string_view text) {
  const size_t from = out.size();
  out += text.substr(0, 1024);
  for (size_t i = from; i < out.size(); ++i) {
    if (static_cast<uint8_t>(out[i]) < 0x20 || out[i] == 0x7F) out[i] = ' ';
  }
}

}  // namespace

std::string make_request_id() {
  thread_local std::mt19937_64 generator{std::random_device{}()};
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::array<char, 36> text{};
  uint64_t bits = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i % 16 == 0) bits = generator();
    text[i] = i == 8 || i == 13 || i == 18 || i == 23 ? '-' : kDigits[bits & 0xF];
    bits >>= 4;
  }
  text[14] = '4';
  return {text.data(), text.size()};
}

RequestHeaders RequestHeaders::of(const std::vector<net::Header>& all) {
  RequestHeaders headers;
  struct Known {
    std::string_view name;
    std::string_view RequestHeaders::* to;
  };
  static constexpr Known kKnown[] = {
      {"host", &RequestHeaders::host},
      {"accept", &RequestHeaders::accept},
      {"authorization", &RequestHeaders::authorization},
      {"content-md5", &RequestHeaders::content_md5},
      {"content-type", &RequestHeaders::content_type},
      {"date", &RequestHeaders::date},
      {"x-ms-date", &RequestHeaders::x_ms_date},
      {"x-ms-version", &RequestHeaders::x_ms_version},
      {"connection", &RequestHeaders::connection},
      {"x-ms-client-request-id", &RequestHeaders::client_request_id},
      {"if-match", &RequestHeaders::if_match},
      {"prefer", &RequestHeaders::prefer},
      {"x-http-method", &RequestHeaders::x_http_method},
      {"x-ms-offer-throughput", &RequestHeaders::offer_throughput},
      {"x-ms-cosmos-offer-autopilot-settings", &RequestHeaders::autoscale},
      {"origin", &RequestHeaders::origin},
      {"access-control-request-method", &RequestHeaders::cors_method},
      {"access-control-request-headers", &RequestHeaders::cors_headers},
  };
  for (const net::Header& header : all) {
    for (const Known& known : kKnown) {
      if (header.name.size() != known.name.size() || !equals_ignore_case(header.name, known.name)) {
        continue;
      }
      if ((headers.*known.to).empty()) headers.*known.to = header.value;
      break;
    }
  }
  return headers;
}

Call::Call(const net::Request& request, net::Responder responder_in,
           face::RequestMetrics& metrics_in, const Clock& clock_in)
    : method(request.method),
      sent_method(request.method),
      target(request.target),
      body(request.body),
      tls(request.tls),
      peer(request.peer),
      headers(RequestHeaders::of(request.headers)),
      grant(Grant::of_key(false, true)),
      request_id(make_request_id()),
      responder_(std::move(responder_in)),
      metrics_(metrics_in),
      clock_(clock_in),
      started_us_(clock_in.steady_us()) {
  response.headers.reserve(512);
}

Call::Call(Call& taken)
    : method(taken.method),
      sent_method(taken.sent_method),
      target(taken.target),
      body(taken.body),
      tls(taken.tls),
      peer(taken.peer),
      headers(taken.headers),
      address(taken.address),
      parameters(taken.parameters),
      grant(taken.grant),
      request_id(taken.request_id),
      cors_rules(taken.cors_rules),
      hop(std::move(taken.hop)),
      responder_(std::move(taken.responder_)),
      metrics_(taken.metrics_),
      clock_(taken.clock_),
      started_us_(taken.started_us_) {
  taken.answered_ = true;
  response.headers.reserve(512);
}

CallPtr Call::take_over() {
  return CallPtr(new Call(*this));
}

Call::~Call() {
  if (answered_) return;
  survive("answering a request", [&] {
    response = {};
    fail(Error{.code = Code::overloaded,
               .message = "The server ran out of memory or threads while it was at this request, "
                          "which may be done or not: look, or try again.",
               .retry_after_ms = kRetryMs});
  });
}

std::string Call::base() const {
  std::string out;
  out.reserve(16 + headers.host.size() + address.account.size());
  out += tls ? "https://" : "http://";
  append_safe(out, headers.host);
  if (address.in_path) {
    out += '/';
    out += address.account;
  }
  return out;
}

std::string_view Call::query() const {
  const size_t mark = target.find('?');
  return mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
}

void Call::receipt(const cluster::Receipt& receipt) {
  if (receipt.would_throttle_ms > 0) {
    response.add("x-orrery-would-throttle-ms", std::to_string(receipt.would_throttle_ms));
  }
  charge(receipt.charge);
}

void Call::charge(double request_units) {
  response.headers += "x-ms-request-charge: ";
  value::append_json_number(response.headers, request_units);
  response.headers += "\r\n";
  metrics_.charge(metric, request_units);
}

void Call::finish(int status) {
  std::string& out = response.headers;
  out += "cache-control: no-cache\r\nx-content-type-options: nosniff\r\nx-ms-request-id: ";
  out += request_id;
  out += "\r\nx-ms-version: ";
  out += kVersion;
  if (!headers.client_request_id.empty()) {
    out += "\r\nx-ms-client-request-id: ";
    append_safe(out, headers.client_request_id);
  }
  out += "\r\n";
  // What is promised at least; the listener keeps connections for longer.
  if (equals_ignore_case(headers.connection, "keep-alive")) out += "keep-alive: timeout=5\r\n";
  if (!cors_rules.empty()) {
    out += cors_headers(cors_rules, {headers.origin, sent_method, headers.cors_headers}, out);
  }
  send(status);
}

void Call::send(int status) {
  response.status = status;
  metrics_.done(metric, status, clock_.steady_us() - started_us_);
  answered_ = true;
  responder_.send(std::move(response));
}

void Call::reply_with(int status, std::string_view content_type, std::string text) {
  response.headers += "content-type: ";
  response.headers += content_type;
  response.headers += "\r\n";
  response.body = std::move(text);
  finish(status);
}

void Call::reply_json(int status, Metadata level, std::string json) {
  reply_with(status, content_type_of(level), std::move(json));
}

void Call::reply_xml(int status, std::string xml) {
  reply_with(status, "application/xml", std::move(xml));
}

void Call::reply_empty(int status) {
  response.body.clear();
  finish(status);
}

bool Call::wants_json() const {
  const bool is_xml_resource = address.resource == Resource::service || !parameters.comp.empty();
  if (is_xml_resource) return false;
  const std::string_view asked =
      parameters.format.empty() ? headers.accept : std::string_view(parameters.format);
  return asked.find("xml") == std::string_view::npos;
}

std::string Call::error_text(const TableError& error, bool as_json) const {
  const std::string time = time_text(clock_.now_ms() * value::kTicksInMs);
  const ErrorBody around{.request_id = request_id, .time = time};
  return as_json ? error_json(error, around) : error_xml(error, around);
}

TableError Call::engine_error(const Error& error) {
  if (error.code == Code::elsewhere || error.code == Code::moved) elsewhere_ = error.code;
  return from_engine(error, cosmos_flavour);
}

void Call::reply_forwarded(int status, std::string headers_in, std::string body_in) {
  response.headers = std::move(headers_in);
  response.body = std::move(body_in);
  send(status);
}

void Call::reply_moved() {
  response = {};
  response.status = face::kMovedStatus;
  answered_ = true;
  responder_.send(std::move(response));
}

void Call::fail(const TableError& error) {
  if (hop && elsewhere_ && hop->take_if_elsewhere(*this, *elsewhere_)) return;
  const bool as_json = wants_json();
  response.add("x-ms-error-code", error.name());
  if (error.retry_after_ms > 0) {
    response.add("x-ms-retry-after-ms", std::to_string(error.retry_after_ms));
    response.add("retry-after", std::to_string((error.retry_after_ms + 999) / 1000));
  }
  reply_with(error.status(),
             as_json ? "application/json;odata=minimalmetadata;streaming=true;charset=utf-8"
                     : "application/xml",
             error_text(error, as_json));
}

void Call::fail(const Error& error) {
  fail(engine_error(error));
}

void Call::method_not_allowed() {
  fail(table_error(
      ErrorCode::method_not_allowed,
      "The method " + std::string(method.substr(0, 20)) + " is not possible on this resource."));
}

}  // namespace orrery::table
