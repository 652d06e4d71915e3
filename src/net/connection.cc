// The life of a connection: handshake, read, hand over, write, linger, close. See connection.h for
// the order in which it alternates and for who may touch what.
#include "net/connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <exception>

#include "base/log.h"
#include "base/survive.h"
#include "net/response_head.h"

namespace orrery::net {
namespace {

// Small bodies are copied behind their heads (one buffer, one write); larger ones are written from
// where they are.
constexpr size_t kCopiedBodyBytesMax = 16 * 1024;
// Responses to pipelined requests are gathered up to here before they are written.
constexpr size_t kGatherBytes = 64 * 1024;
constexpr size_t kIdleOutputBytesMax = 16 * 1024;
// After the last response the client gets this long, and may send this much, before the connection
// is cut: closing with bytes unread would reset it and could take the response away with it.
constexpr std::chrono::milliseconds kLingerTime{2'000};
constexpr size_t kLingerBytesMax = 16 * 1024 * 1024;

constexpr unsigned char kTlsHandshakeRecord = 0x16;

}  // namespace

Connection::Connection(std::shared_ptr<EventLoop> loop, Descriptor fd, bool refused)
    : loop_(std::move(loop)),
      transport_(std::move(fd)),
      peer_(transport_.peer_name()),
      parser_(loop_->options().header_bytes_max, loop_->options().body_bytes_max),
      refused_(refused) {}

void Connection::wait(Waiting what, std::chrono::milliseconds limit) {
  waiting_ = what;
  deadline_ = loop_->now() + limit;
}

void Connection::start() {
  const int on = 1;
  ::setsockopt(transport_.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (auto watched = loop_->watch(transport_.fd(), *this); !watched) return close();
  request_.peer = peer_;
  if (refused_) {
    return reject(503, "The server has as many connections as it accepts: try again later.");
  }
  first_byte_ = true;
  wait(Waiting::idle, loop_->options().idle_timeout);
}

void Connection::on_events(uint32_t events) {
  const std::shared_ptr<Connection> self = shared_from_this();
  if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) {
    gone_.store(true, std::memory_order_relaxed);
  }
  transport_.on_events(events);
  if (first_byte_) return on_first_byte();
  if (waiting_ == Waiting::handshake) return shake_hands();
  if (writing_) {
    // What the peer sends does not buy it time to take its answers; beneath TLS either may be due.
    if (transport_.tls() || (events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0) on_writable();
    return;
  }
  if (lingering_) return drain();
  if (!awaiting_response_) process();
}

void Connection::on_turn_end() {
  if (!closed_) process();
}

void Connection::on_first_byte() {
  unsigned char first = 0;
  switch (transport_.peek(first).flow) {
    case Flow::wait:
      return;
    case Flow::over:
      return close();
    case Flow::moved:
      break;
  }
  first_byte_ = false;
  if (first != kTlsHandshakeRecord) return process();
  SSL_CTX* tls = loop_->shared().tls.get();
  if (tls != nullptr && transport_.begin_tls(tls)) {
    request_.tls = true;
    wait(Waiting::handshake, loop_->options().header_timeout);
    return shake_hands();
  }
  LoopCounters::count(loop_->counters().tls_failures);
  if (tls == nullptr && loop_->first_tls_refusal()) {
    log::warn("refused a TLS connection: the server was started without a certificate",
              {{"peer", peer_}});
  }
  close();
}

void Connection::shake_hands() {
  switch (transport_.handshake()) {
    case Flow::wait:
      return;
    case Flow::over:
      LoopCounters::count(loop_->counters().tls_failures);
      return close();
    case Flow::moved:
      waiting_ = Waiting::nothing;
      return process();
  }
}

// ---- Reading

bool Connection::fill() {
  const std::span<char> room = input_.room(parser_.bytes_wanted());
  const Transfer got = transport_.read(room);
  if (got.flow == Flow::over) {
    close();
    return false;
  }
  const ServerOptions& options = loop_->options();
  input_.added(got.bytes);
  if (parser_.reading_body()) {
    wait(Waiting::body, options.body_timeout);
  } else if (input_.size() == 0) {
    wait(Waiting::idle, options.idle_timeout);
  } else if (waiting_ != Waiting::header) {
    wait(Waiting::header, options.header_timeout);
  }
  return got.flow == Flow::moved;
}

void Connection::process() {
  while (!awaiting_response_) {
    if (!body_.empty() || out_.size() >= kGatherBytes || close_after_flush_) {
      if (!flush()) return;
    }
    size_t size = input_.size();
    const auto outcome =
        size > 0 ? parser_.parse(input_.data(), size) : RequestParser::Outcome::need_more;
    input_.shrink_to(size);
    if (outcome == RequestParser::Outcome::failed) {
      return reject(parser_.error_status(), parser_.error_message());
    }
    if (outcome == RequestParser::Outcome::complete) {
      if (!dispatch()) return;
      continue;
    }
    if (parser_.expects_continue() && !sent_continue_) {
      sent_continue_ = true;
      out_.append("HTTP/1.1 100 Continue\r\n\r\n");
    }
    if (loop_->stopping() && size == 0) close_after_flush_ = true;
    if (unsent() && loop_->write_later(shared_from_this())) return;
    if (!flush()) return;
    if (!fill()) return;
  }
}

bool Connection::dispatch() {
  LoopCounters::count(loop_->counters().requests);
  parser_.fill(input_.data(), request_);
  waiting_ = Waiting::nothing;
  awaiting_response_ = true;
  in_handler_ = true;
  try {
    loop_->shared().handler->handle(request_, Responder(shared_from_this()));
  } catch (const std::exception& error) {
    // The Responder was destroyed on the way here: this turn ends with an answer.
    note_exception("handling a request", error.what());
    LoopCounters::count(loop_->counters().failures);
  }
  in_handler_ = false;
  if (closed_) return false;
  if (!awaiting_response_) {
    input_.consume(parser_.consumed());
    parser_.reset();
    sent_continue_ = false;
    return true;
  }
  // Nobody should wait for a slow answer to get those before it.
  if (unsent()) flush();
  return false;
}

void Connection::reject(int status, std::string_view message) {
  if (!refused_) LoopCounters::count(loop_->counters().bad_requests);
  const std::string body = error_body(status, message);
  append_head(out_, {.status = status,
                     .headers = "Content-Type: application/json\r\n",
                     .date_line = loop_->date_line(),
                     .content_length = body.size(),
                     .connection = "close"});
  out_.append(body);
  close_after_flush_ = true;
  if (!writing_) flush();
}

// ---- Responses

void Connection::send(Response&& response) noexcept {
  if (loop_->on_thread() && in_handler_) {
    if (!survive("answering a request", [&] { append_response(response); })) on_failure();
    return;
  }
  // Dropped if the loop has finished: then the connection is closed and nobody waits for it.
  const bool posted = survive("answering a request", [&] {
    loop_->post([self = shared_from_this(), late = std::move(response)]() mutable {
      if (!survive("answering a request", [&] { self->take_response(std::move(late)); })) {
        self->on_failure();
      }
    });
  });
  if (!posted) abandon();
}

void Connection::abandon() noexcept {
  abandoned_.store(true);
  loop_->look_for_abandoned();
}

void Connection::finish_abandoned() noexcept {
  if (!abandoned_.exchange(false) || closed_) return;
  const bool answered = survive("answering a request", [&] {
    Response response;
    response.status = 500;
    response.add("Content-Type", "application/json");
    response.body =
        R"({"code":"InternalServerError","message":"The server gave no answer to this request."})";
    take_response(std::move(response));
  });
  if (!answered) on_failure();
}

void Connection::on_failure() noexcept {
  LoopCounters::count(loop_->counters().failures);
  close();
}

void Connection::take_response(Response&& response) {
  if (closed_) return;
  if (writing_) {
    waiting_response_.emplace(std::move(response));
    return;
  }
  append_response(response);
  input_.consume(parser_.consumed());
  parser_.reset();
  sent_continue_ = false;
  process();
}

void Connection::append_response(Response& response) {
  awaiting_response_ = false;
  const bool more_read = input_.size() > parser_.consumed();
  const bool last = !parser_.keep_alive() || response.close || (loop_->stopping() && !more_read);
  const bool has_body = status_has_body(response.status);
  std::string_view connection;
  if (last) {
    connection = "close";
  } else if (parser_.http_1_0()) {
    connection = "keep-alive";
  }
  append_head(out_, {.status = response.status,
                     .headers = response.headers,
                     .date_line = loop_->date_line(),
                     .content_length =
                         has_body ? std::optional<uint64_t>(response.body.size()) : std::nullopt,
                     .connection = connection});
  if (has_body && !parser_.is_head()) {
    if (response.body.size() <= kCopiedBodyBytesMax) {
      out_.append(response.body);
    } else {
      body_ = std::move(response.body);
      body_done_ = 0;
    }
  }
  if (last) close_after_flush_ = true;
}

// ---- Writing

bool Connection::flush() {
  while (unsent()) {
    const Transfer sent = transport_.write(std::string_view(out_).substr(out_done_),
                                           std::string_view(body_).substr(body_done_));
    if (sent.flow == Flow::over) {
      close();
      return false;
    }
    if (sent.flow == Flow::wait) {
      writing_ = true;
      wait(Waiting::write, loop_->options().write_timeout);
      return false;
    }
    advance(sent.bytes);
  }
  out_.clear();
  out_done_ = 0;
  if (out_.capacity() > kIdleOutputBytesMax) out_ = {};
  if (!body_.empty()) body_ = {};
  body_done_ = 0;
  if (close_after_flush_) {
    linger();
    return false;
  }
  return true;
}

void Connection::advance(size_t size) {
  const size_t from_out = std::min(size, out_.size() - out_done_);
  out_done_ += from_out;
  body_done_ += size - from_out;
}

void Connection::on_writable() {
  writing_ = false;
  waiting_ = Waiting::nothing;
  if (!flush()) return;
  if (waiting_response_) {
    Response response = std::move(*waiting_response_);
    waiting_response_.reset();
    return take_response(std::move(response));
  }
  process();
}

// ---- Ending

void Connection::linger() {
  lingering_ = true;
  wait(Waiting::linger, kLingerTime);
  transport_.end_writing();
  drain();
}

// Reads and forgets, until the client closes or has used up what it is granted.
void Connection::drain() {
  while (drained_bytes_ < kLingerBytesMax) {
    const Transfer got = transport_.discard();
    if (got.flow == Flow::wait) return;
    if (got.flow == Flow::over) break;
    drained_bytes_ += got.bytes;
  }
  close();
}

void Connection::close() {
  if (closed_) return;
  closed_ = true;
  const std::shared_ptr<Connection> self = shared_from_this();
  transport_.close();
  loop_->remove(*this);
}

void Connection::on_tick(SteadyTime now) {
  if (waiting_ == Waiting::nothing || now < deadline_) return;
  switch (waiting_) {
    case Waiting::header:
    case Waiting::body:
      waiting_ = Waiting::nothing;
      return reject(408, "The request did not arrive in the time this server gives it.");
    case Waiting::handshake:
      LoopCounters::count(loop_->counters().tls_failures);
      return close();
    case Waiting::nothing:
    case Waiting::idle:
    case Waiting::write:
    case Waiting::linger:
      return close();
  }
}

void Connection::on_stopping() {
  if (waiting_ == Waiting::handshake) return close();
  if (waiting_ != Waiting::idle) return;  // has a request under way, or an answer
  if (!transport_.has_unread()) close();
}

}  // namespace orrery::net
