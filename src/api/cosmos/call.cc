// See call.h.
#include "api/cosmos/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <random>

#include "advise/recorder.h"
#include "api/cosmos/foreign/foreign_database.h"
#include "api/cosmos/forward/hop.h"
#include "api/cosmos/recording.h"
#include "api/cosmos/wire/binary_json.h"
#include "api/cosmos/wire/etag.h"
#include "api/cosmos/wire/rid.h"
#include "api/cosmos/wire/session_token.h"
#include "base/survive.h"
#include "face/forward.h"
#include "face/http_error.h"
#include "value/json.h"

namespace orrery::cosmos {
namespace {

constexpr size_t kMaxActivityIdBytes = 64;
constexpr uint32_t kRetryMs = 100;

int64_t steady_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Random enough to tell requests apart in logs; nothing depends on it being hard to guess.
std::string make_activity_id() {
  thread_local std::mt19937_64 generator{std::random_device{}()};
  const uint64_t a = generator();
  const uint64_t b = generator();
  std::array<char, 36> text;
  constexpr std::string_view kDigits = "0123456789abcdef";
  char* to = text.data();
  for (size_t i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) *to++ = '-';
    const uint64_t byte = (i < 8 ? a : b) >> (i % 8 * 8);
    *to++ = kDigits[byte & 0xF];
    *to++ = kDigits[byte >> 4 & 0xF];
  }
  text[14] = '4';
  text[19] = kDigits[8 | (b & 3)];
  return {text.data(), text.size()};
}

void append_whole(std::string& out, uint64_t number) {
  std::array<char, 20> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  out.append(digits.data(), static_cast<size_t>(end.ptr - digits.data()));
}

// 1234 as 1.234.
void append_thousandths(std::string& out, uint64_t number) {
  append_whole(out, number / 1000);
  out += '.';
  for (uint64_t place = 100; place > 0; place /= 10) {
    out += static_cast<char>('0' + number / place % 10);
  }
}

bool is_plain_token(std::string_view text) {
  return !text.empty() && text.size() <= kMaxActivityIdBytes &&
         std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  c == '-';
         });
}

}  // namespace

void append_number_header(std::string& out, std::string_view name, double number) {
  out += name;
  out += ": ";
  value::append_json_number(out, number);
  out += "\r\n";
}

Call::Call(const net::Request& request, net::Responder responder_in,
           face::RequestMetrics& metrics_in, int64_t started_us_in)
    : method(request.method),
      target(request.target),
      body(request.body),
      tls(request.tls),
      peer(request.peer),
      headers(RequestHeaders::of(request.headers)),
      responder_(std::move(responder_in)),
      metrics_(metrics_in),
      started_us_(started_us_in) {
  activity_id =
      is_plain_token(headers.activity_id) ? std::string(headers.activity_id) : make_activity_id();
  response.headers.reserve(768);
}

Call::Call(Call& taken)
    : method(taken.method),
      target(taken.target),
      body(taken.body),
      text_body(taken.text_body),
      tls(taken.tls),
      peer(taken.peer),
      headers(taken.headers),
      address(taken.address),
      activity_id(taken.activity_id),
      hop(std::move(taken.hop)),
      responder_(std::move(taken.responder_)),
      metrics_(taken.metrics_),
      started_us_(taken.started_us_) {
  taken.answered_ = true;
  response.headers.reserve(768);
}

CallPtr Call::take_over() {
  return CallPtr(new Call(*this));
}

Call::~Call() {
  if (answered_) return;
  // Should there be no memory for this either, the Responder sees to it.
  survive("answering a request", [&] {
    response = {};
    fail({.code = Code::overloaded,
          .message = "the server ran out of memory or threads while it was at this request, which "
                     "may be done or not: look, or try again",
          .retry_after_ms = kRetryMs});
  });
}

bool Call::is_query() const {
  return method == "POST" && address.is_feed() &&
         (is_true(headers.is_query) || is_true(headers.is_query_plan));
}

void Call::charge(double request_units) {
  append_number_header(response.headers, "x-ms-request-charge", request_units);
  metrics_.charge(static_cast<size_t>(operation), request_units);
}

bool Call::is_to_be_recorded() {
  if (recorder == nullptr) return false;
  if (!stands_for_) stands_for_ = recorder->take();
  return *stands_for_ > 0;
}

void Call::record_throttled(size_t operations) {
  if (container == 0 || operations == 0 || !is_to_be_recorded()) return;
  const double stand_for = static_cast<double>(operations) * *stands_for_;
  survive("recording a refusal for the advisor",
          [&] { recorder->record_throttled(container, stand_for); });
}

void Call::receipt(std::span<const cluster::Receipt> ranges, const cluster::Routing& routing,
                   const ItemUpdate& update) {
  const cluster::Receipt& first = ranges.front();
  std::string& out = response.headers;
  double sum = 0;
  uint32_t would_throttle_ms = 0;
  out += "x-ms-session-token: ";
  for (const cluster::Receipt& receipt : ranges) {
    if (&receipt != &first) out += ',';
    append_session_token(out, receipt.range, receipt.lsn);
    sum += receipt.charge;
    would_throttle_ms = std::max(would_throttle_ms, receipt.would_throttle_ms);
  }
  out += "\r\nlsn: ";
  append_whole(out, first.lsn);
  out += "\r\nx-ms-documentdb-partitionkeyrangeid: ";
  append_whole(out, first.range);
  out += "\r\nx-ms-content-path: ";
  append_container_rid(out, routing.container->database, routing.container->number);
  out += "\r\n";
  if (is_own(*routing.database)) {
    // Its names have no control characters, so they cannot end the line.
    out += "x-ms-alt-content-path: dbs/";
    out += routing.database->name;
    out += "/colls/";
    out += routing.container->spec.name;
    out += "\r\n";
  } else {
    response.add("x-ms-alt-content-path",
                 name_path(*routing.database, routing.container->spec.name));
  }
  if (would_throttle_ms > 0) {
    fmt::format_to(std::back_inserter(out), "x-orrery-would-throttle-ms: {}\r\n",
                   would_throttle_ms);
  }
  // Each has two decimals; so has their sum.
  const double charged = ranges.size() == 1 ? sum : std::round(sum * 100) / 100;
  charge(charged);
  // What costs nothing was refused: it comes again, or was wrong.
  if (charged == 0 || !is_to_be_recorded()) return;
  record_call(
      *recorder, *this, routing,
      {.ru = charged, .ranges = ranges.size(), .stands_for = *stands_for_, .update = update});
}

void Call::etag(std::string_view version_text) {
  response.headers += "etag: \"";
  response.headers += version_text;
  response.headers += "\"\r\n";
}

void Call::etag(const partition::Version& version) {
  response.headers += "etag: \"";
  append_etag(response.headers, version);
  response.headers += "\"\r\n";
}

void Call::finish(int status) {
  std::string& out = response.headers;
  if (address.count > 0) {
    out += tls ? "content-location: https://" : "content-location: http://";
    out += headers.host;
    out += target;
    out += "\r\n";
  }
  out += "x-ms-activity-id: ";
  out += activity_id;
  out +=
      "\r\nx-ms-schemaversion: 1.18\r\nx-ms-serviceversion: version=2.14.0.0\r\n"
      "x-ms-gatewayversion: version=2.14.0\r\n";
  const int64_t took_us = steady_us() - started_us_;
  out += "x-ms-request-duration-ms: ";
  append_thousandths(out, static_cast<uint64_t>(took_us));
  out += "\r\n";
  send(status, took_us);
}

void Call::send(int status, int64_t took_us) {
  response.status = status;
  metrics_.done(static_cast<size_t>(operation), status, took_us);
  answered_ = true;
  responder_.send(std::move(response));
}

void Call::reply_forwarded(int status, std::string headers_in, std::string body_in) {
  response.headers = std::move(headers_in);
  response.body = std::move(body_in);
  send(status, steady_us() - started_us_);
}

void Call::reply_moved() {
  response = {};
  response.status = face::kMovedStatus;
  answered_ = true;
  responder_.send(std::move(response));
}

bool Call::is_about_one_item() const {
  if (address.count < 5 || address.segments[4] != "docs" || is_true(headers.is_batch)) return false;
  return address.count == 6 || (method == "POST" && !is_query());
}

Status Call::take_binary_body(size_t bytes_max) {
  if (!is_binary_json(body) || !is_about_one_item()) return {};
  auto text = text_of_binary_json(body, bytes_max);
  if (!text) return pass(text.error());
  text_body = std::make_shared<const std::string>(std::move(*text));
  body = *text_body;
  return {};
}

void Call::reply(int status, std::string json_body) {
  if (!headers.serialization_formats.empty() && status < 300 && wants_binary(headers) &&
      is_about_one_item()) {
    if (auto binary = binary_json_of(json_body)) return reply_bytes(status, std::move(*binary));
  }
  response.headers += "content-type: application/json\r\n";
  response.body = std::move(json_body);
  finish(status);
}

void Call::reply_bytes(int status, std::string body_bytes) {
  response.headers += "content-type: application/octet-stream\r\n";
  response.body = std::move(body_bytes);
  finish(status);
}

void Call::reply_text() {
  finish(200);
}

void Call::reply_empty(int status) {
  response.body.clear();
  finish(status);
}

void Call::fail(const Error& error, uint32_t substatus) {
  if (hop && (error.code == Code::moved || error.code == Code::elsewhere) &&
      hop->take_if_elsewhere(*this, error.code)) {
    return;
  }
  if (error.code == Code::throttled) record_throttled(1);
  ErrorReply reply = error_reply(error, activity_id, substatus);
  if (reply.substatus != 0) {
    fmt::format_to(std::back_inserter(response.headers), "x-ms-substatus: {}\r\n", reply.substatus);
  }
  if (reply.retry_after_ms != 0) {
    fmt::format_to(std::back_inserter(response.headers), "x-ms-retry-after-ms: {}\r\n",
                   reply.retry_after_ms);
  }
  if (response.headers.find("x-ms-request-charge") == std::string::npos) charge(0);
  response.headers += "content-type: application/json\r\n";
  response.body = std::move(reply.body);
  finish(reply.status);
}

void Call::method_not_allowed() {
  const std::string message =
      fmt::format("{} is not possible on {}: see the API's reference for what is", method, path());
  fail_with(405, 0, error_body(face::status_name(405), message, activity_id));
}

void Call::unsupported(std::string_view what) {
  fail({.code = Code::unsupported,
        .message = fmt::format("{} are not supported by this version of Orrery", what)});
}

void Call::fail_with(int status, uint32_t substatus, std::string json_body) {
  if (substatus != 0) {
    fmt::format_to(std::back_inserter(response.headers), "x-ms-substatus: {}\r\n", substatus);
  }
  if (response.headers.find("x-ms-request-charge") == std::string::npos) charge(0);
  reply(status, std::move(json_body));
}

}  // namespace orrery::cosmos
