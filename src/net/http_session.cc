// From bytes to requests and from responses to bytes: see http_session.h.
#include "net/http_session.h"

#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/survive.h"
#include "net/response_head.h"
#include "net/stream.h"

namespace orrery::net {
namespace {

// Small bodies are copied behind their heads (one buffer, one write); larger ones are written from
// where they are.
constexpr size_t kCopiedBodyBytesMax = 16 * 1024;
constexpr std::string_view kRetryLater = "Retry-After: 1\r\n";
constexpr Next kAgain{.kind = Next::Kind::again};
constexpr Next kWait{.kind = Next::Kind::wait};
constexpr Next kFlush{.kind = Next::Kind::flush};

}  // namespace

SessionFactory http_sessions(Handler& handler, HttpLimits limits) {
  return [&handler, limits](Stream& stream) -> std::unique_ptr<Session> {
    return std::make_unique<HttpSession>(stream, handler, limits);
  };
}

HttpSession::HttpSession(Stream& stream, Handler& handler, const HttpLimits& limits)
    : Session(stream),
      handler_(handler),
      error_body_(limits.error_body != nullptr ? limits.error_body : error_body),
      parser_(limits.header_bytes_max, limits.body_bytes_max) {
  request_.peer = stream.peer();
}

// ---- Requests

Next HttpSession::on_input(InputBuffer& input) {
  size_t size = input.size();
  const auto outcome =
      size > 0 ? parser_.parse(input.data(), size) : RequestParser::Outcome::need_more;
  input.shrink_to(size);
  switch (outcome) {
    case RequestParser::Outcome::failed:
      reject(parser_.error_status(), parser_.error_message());
      return kAgain;
    case RequestParser::Outcome::complete:
      return dispatch(input);
    case RequestParser::Outcome::need_more:
      break;
  }
  if (parser_.reading_body()) return read_body(input);
  if (stream_.stopping() && size == 0) stream_.end();
  return {};
}

// A body that fits what a connection may keep anyway, and that nobody holds back, comes without
// being asked about: the handler will see it in a moment.
Next HttpSession::read_body(InputBuffer& input) {
  const size_t wanted = parser_.bytes_wanted();
  const bool large = (wanted > 0 ? wanted : input.next_capacity()) > InputBuffer::kFreeBytes;
  const bool held_back = parser_.expects_continue() && !body_.told_to_continue;
  if (!body_.admitted && (large || held_back)) {
    // From here on the stream may wait, and nobody should wait with it for answers before this.
    if (stream_.output().unsent()) return kFlush;
    if (!body_.head_passed) {
      if (refused_by_head(input)) return kAgain;
      body_.head_passed = true;
    }
    if (large) {
      if (!stream_.reserve(parser_.bytes_wanted_max())) return kWait;
      body_.admitted = true;
    }
    if (held_back) {
      body_.told_to_continue = true;
      stream_.output().text().append("HTTP/1.1 100 Continue\r\n\r\n");
    }
  }
  return {.paced = true, .input_bytes = body_.admitted ? parser_.bytes_wanted_max() : wanted};
}

bool HttpSession::refused_by_head(InputBuffer& input) {
  parser_.fill(input.data(), request_);
  request_.tls = stream_.tls();
  request_.body = {};
  std::optional<Response> refusal;
  try {
    refusal = handler_.refuse(request_);
  } catch (const std::exception& error) {
    log::error("a request's head failed",
               {{"method", request_.method}, {"target", request_.target}, {"error", error.what()}});
    refusal.emplace();
    refusal->status = 500;
  }
  if (!refusal) return false;
  LoopCounters::count(stream_.counters().requests);
  refusal->close = true;
  append_response(*refusal);
  return true;
}

Next HttpSession::dispatch(InputBuffer& input) {
  LoopCounters::count(stream_.counters().requests);
  parser_.fill(input.data(), request_);
  request_.tls = stream_.tls();
  awaiting_response_ = true;
  in_handler_ = true;
  try {
    handler_.handle(request_,
                    Responder(std::shared_ptr<ResponseSink>(stream_.shared_from_this(), this)));
  } catch (const std::exception& error) {
    // The Responder was destroyed on the way here: this turn ends with an answer.
    note_exception("handling a request", error.what());
    LoopCounters::count(stream_.counters().failures);
  }
  in_handler_ = false;
  if (awaiting_response_) return kWait;
  next_request();
  return kAgain;
}

// The request is answered: lets go of it.
void HttpSession::next_request() {
  stream_.input().consume(parser_.consumed());
  stream_.release_memory();
  parser_.reset();
  body_ = {};
}

void HttpSession::reject(int status, std::string_view message, std::string_view headers) {
  if (!stream_.refused()) LoopCounters::count(stream_.counters().bad_requests);
  const std::string body = error_body_(status, message);
  std::string& text = stream_.output().text();
  append_head(text, {.status = status,
                     .headers = std::string("Content-Type: application/json\r\n").append(headers),
                     .date_line = stream_.date_line(),
                     .content_length = body.size(),
                     .connection = "close"});
  text.append(body);
  stream_.end();
}

void HttpSession::on_refused() {
  reject(503, "The server has as many connections as it accepts: try again later.");
}

void HttpSession::on_no_memory() {
  reject(503, "The server has no memory for headers as large as these now: try again later.",
         kRetryLater);
}

void HttpSession::on_deadline(Waiting what) {
  switch (what) {
    case Waiting::head:
    case Waiting::body:
      return reject(408, "The request did not arrive in the time this server gives it.");
    case Waiting::memory:
      return reject(503,
                    "The server has no memory for a body as large as this now: try again later.",
                    kRetryLater);
    default:
      return stream_.close();
  }
}

void HttpSession::on_stopping() {
  // Otherwise a request is under way, or an answer.
  if (stream_.idle() && !stream_.has_unread()) stream_.close();
}

// ---- Responses

void HttpSession::send(Response&& response) noexcept {
  if (stream_.on_loop_thread() && in_handler_) {
    if (!survive("answering a request", [&] { append_response(response); })) stream_.on_failure();
    return;
  }
  // The work holds the stream, which holds this.
  const bool posted = stream_.post(
      [this, late = std::move(response)]() mutable { take_response(std::move(late)); });
  if (!posted) abandon();
}

void HttpSession::abandon() noexcept {
  abandoned_.store(true);
  stream_.notify();
}

bool HttpSession::is_gone() const {
  return stream_.peer_gone();
}

void HttpSession::on_notified() noexcept {
  if (!abandoned_.exchange(false)) return;
  const bool answered = survive("answering a request", [&] {
    Response response;
    response.status = 500;
    response.add("Content-Type", "application/json");
    response.body =
        R"({"code":"InternalServerError","message":"The server gave no answer to this request."})";
    take_response(std::move(response));
  });
  if (!answered) stream_.on_failure();
}

void HttpSession::take_response(Response&& response) {
  if (stream_.writing()) {
    stream_.queued(response.body.size());
    waiting_response_.emplace(std::move(response));
    return;
  }
  append_response(response);
  next_request();
  stream_.resume();
}

size_t HttpSession::queued_bytes() const {
  return waiting_response_ ? waiting_response_->body.size() : 0;
}

void HttpSession::on_written() {
  if (!waiting_response_) return;
  Response response = std::move(*waiting_response_);
  waiting_response_.reset();
  take_response(std::move(response));
}

void HttpSession::append_response(Response& response) {
  awaiting_response_ = false;
  if (response.take_over) return switch_protocols(response);
  const bool more_read = stream_.input().size() > parser_.consumed();
  const bool last = !parser_.keep_alive() || response.close || (stream_.stopping() && !more_read);
  const bool has_body = status_has_body(response.status);
  std::string_view connection;
  if (last) {
    connection = "close";
  } else if (parser_.http_1_0()) {
    connection = "keep-alive";
  }
  OutputBuffer& output = stream_.output();
  append_head(
      output.text(),
      {.status = response.status,
       .headers = response.headers,
       .date_line = stream_.date_line(),
       .content_length = has_body ? std::optional<uint64_t>(response.body.size()) : std::nullopt,
       .connection = connection});
  if (has_body && !parser_.is_head()) {
    if (response.body.size() <= kCopiedBodyBytesMax) {
      output.text().append(response.body);
    } else {
      output.set_body(std::move(response.body));
    }
  }
  if (last) stream_.end();
}

// What follows the request in the input is the next session's.
void HttpSession::switch_protocols(Response& response) {
  if (parser_.http_1_0()) {
    // Its sender could not understand the answer: RFC 9110, 15.2.
    return reject(400, "Only HTTP/1.1 can change to another protocol.");
  }
  append_head(stream_.output().text(), {.status = 101, .headers = response.headers});
  stream_.take_over(response.take_over->begin(stream_));
}

}  // namespace orrery::net
