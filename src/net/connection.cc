// The life of a connection: handshake, read, hand over, write, linger, close. See connection.h for
// the order in which it alternates and for who may touch what.
#include "net/connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <exception>
#include <utility>

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
// What one connection may do before the others of its loop have their turn. (A request may take a
// millisecond, which is what the face allows a query on the loop.)
constexpr size_t kTurnRequestsMax = 16;
constexpr size_t kTurnBytesMax = 256 * 1024;
// After the last response the client gets this long, and may send this much, before the connection
// is cut: closing with bytes unread would reset it and could take the response away with it.
constexpr std::chrono::milliseconds kLingerTime{2'000};
constexpr size_t kLingerBytesMax = 16 * 1024 * 1024;

constexpr unsigned char kTlsHandshakeRecord = 0x16;
constexpr std::string_view kRetryLater = "Retry-After: 1\r\n";

}  // namespace

Connection::Connection(std::shared_ptr<EventLoop> loop, Descriptor fd, bool refused)
    : loop_(std::move(loop)),
      transport_(std::move(fd)),
      peer_(transport_.peer_name()),
      parser_(loop_->options().header_bytes_max, loop_->options().body_bytes_max),
      refused_(refused) {}

void Connection::wait(Waiting what, std::chrono::milliseconds limit) {
  wait_until(what, loop_->now() + limit);
}

void Connection::wait_until(Waiting what, SteadyTime deadline) {
  waiting_ = what;
  deadline_ = deadline;
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
  if (waiting_ == Waiting::memory) {
    if ((events & (EPOLLHUP | EPOLLERR)) != 0) close();
    return;
  }
  if (!awaiting_response_ && !yielded_) process();
}

void Connection::on_turn_end() {
  if (!closed_) process();
}

void Connection::on_next_turn() {
  yielded_ = false;
  if (!closed_ && !writing_ && !lingering_) process();
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
  const ServerOptions& options = loop_->options();
  if (!parser_.reading_body() && input_.next_capacity() > InputBuffer::kFreeBytes) {
    const size_t more = input_.next_capacity() - InputBuffer::kFreeBytes;
    if (!loop_->shared().heads.try_reserve(reservation_, more)) {
      reject(503, "The server has no memory for headers as large as these now: try again later.",
             kRetryLater);
      return false;
    }
  }
  const std::span<char> room =
      input_.room(body_.admitted ? parser_.bytes_wanted_max() : parser_.bytes_wanted());
  const Transfer got = transport_.read(room);
  if (got.flow == Flow::over) {
    close();
    return false;
  }
  input_.added(got.bytes);
  turn_bytes_ += got.bytes;
  if (parser_.reading_body()) {
    if (!std::exchange(body_.begun, true)) body_.pace.begin(loop_->now());
    body_.pace.moved(got.bytes, loop_->now());
    wait_until(Waiting::body, body_.pace.deadline(options.body_timeout, options.transfer_rate_min));
  } else if (input_.size() == 0) {
    wait(Waiting::idle, options.idle_timeout);
  } else if (waiting_ != Waiting::header) {
    wait(Waiting::header, options.header_timeout);
  }
  return got.flow == Flow::moved;
}

void Connection::process() {
  turn_requests_ = turn_bytes_ = 0;
  while (!awaiting_response_) {
    if (output_.has_body() || output_.text_bytes() >= kGatherBytes || close_after_flush_) {
      if (!flush()) return;
    }
    if (turn_requests_ >= kTurnRequestsMax || turn_bytes_ >= kTurnBytesMax) {
      yielded_ = true;
      return loop_->go_on_later(shared_from_this());
    }
    size_t size = input_.size();
    const auto outcome =
        size > 0 ? parser_.parse(input_.data(), size) : RequestParser::Outcome::need_more;
    input_.shrink_to(size);
    if (outcome == RequestParser::Outcome::failed) {
      return reject(parser_.error_status(), parser_.error_message());
    }
    if (outcome == RequestParser::Outcome::complete) {
      ++turn_requests_;
      if (!dispatch()) return;
      continue;
    }
    if (parser_.reading_body() && !admit_body()) {
      if (close_after_flush_) continue;
      return;
    }
    if (loop_->stopping() && size == 0) close_after_flush_ = true;
    if (output_.unsent() && loop_->write_later(shared_from_this())) return;
    if (!flush()) return;
    if (!fill()) return;
  }
}

// A body that fits what a connection may keep anyway, and that nobody holds back, comes without
// being asked about: the handler will see it in a moment.
bool Connection::admit_body() {
  if (body_.admitted) return true;
  const size_t wanted = parser_.bytes_wanted();
  const bool large = (wanted > 0 ? wanted : input_.next_capacity()) > InputBuffer::kFreeBytes;
  const bool held_back = parser_.expects_continue() && !body_.told_to_continue;
  if (!large && !held_back) return true;
  // From here on the connection may wait, and nobody should wait with it for answers before this.
  if (output_.unsent() && !flush()) return false;
  if (!body_.head_passed) {
    if (refused_by_head()) return false;
    body_.head_passed = true;
  }
  if (large) {
    const bool reserved = loop_->shared().bodies.reserve_or_queue(
        reservation_, parser_.bytes_wanted_max() - InputBuffer::kFreeBytes,
        [weak = weak_from_this(), loop = loop_] {
          loop->post([weak] {
            if (const auto self = weak.lock()) self->on_memory();
          });
        });
    if (!reserved) {
      wait(Waiting::memory, loop_->options().buffer_timeout);
      return false;
    }
    body_.admitted = true;
  }
  if (held_back) {
    body_.told_to_continue = true;
    output_.text().append("HTTP/1.1 100 Continue\r\n\r\n");
  }
  return true;
}

void Connection::on_memory() {
  if (closed_ || waiting_ != Waiting::memory) return;
  waiting_ = Waiting::nothing;
  process();
}

bool Connection::refused_by_head() {
  parser_.fill(input_.data(), request_);
  request_.body = {};
  std::optional<Response> refusal;
  try {
    refusal = loop_->shared().handler->refuse(request_);
  } catch (const std::exception& error) {
    log::error("a request's head failed",
               {{"method", request_.method}, {"target", request_.target}, {"error", error.what()}});
    refusal.emplace();
    refusal->status = 500;
  }
  if (!refusal) return false;
  LoopCounters::count(loop_->counters().requests);
  waiting_ = Waiting::nothing;
  refusal->close = true;
  append_response(*refusal);
  return true;
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
    next_request();
    return true;
  }
  // Nobody should wait for a slow answer to get those before it.
  if (output_.unsent()) flush();
  return false;
}

// The request is answered: lets go of it.
void Connection::next_request() {
  input_.consume(parser_.consumed());
  if (input_.capacity() <= InputBuffer::kFreeBytes) reservation_.release();
  parser_.reset();
  body_ = {};
}

void Connection::reject(int status, std::string_view message, std::string_view headers) {
  if (!refused_) LoopCounters::count(loop_->counters().bad_requests);
  const std::string body = error_body(status, message);
  append_head(output_.text(),
              {.status = status,
               .headers = std::string("Content-Type: application/json\r\n").append(headers),
               .date_line = loop_->date_line(),
               .content_length = body.size(),
               .connection = "close"});
  output_.text().append(body);
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
    loop_->slow_readers().grown(slow_, response.body.size());
    waiting_response_.emplace(std::move(response));
    return;
  }
  append_response(response);
  next_request();
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
  append_head(
      output_.text(),
      {.status = response.status,
       .headers = response.headers,
       .date_line = loop_->date_line(),
       .content_length = has_body ? std::optional<uint64_t>(response.body.size()) : std::nullopt,
       .connection = connection});
  if (has_body && !parser_.is_head()) {
    if (response.body.size() <= kCopiedBodyBytesMax) {
      output_.text().append(response.body);
    } else {
      output_.set_body(std::move(response.body));
    }
  }
  if (last) close_after_flush_ = true;
}

// ---- Writing

bool Connection::flush() {
  bool moved = false;
  while (output_.unsent()) {
    const Transfer sent = transport_.write(output_.first(), output_.second());
    if (sent.flow == Flow::over) {
      close();
      return false;
    }
    if (sent.flow == Flow::wait) {
      // That the peer sends something, or that TLS does, buys no time: only what is taken does.
      if (!std::exchange(writing_, true)) output_pace_.begin(loop_->now());
      if (moved || slow_.bytes == 0) {
        const size_t next = waiting_response_ ? waiting_response_->body.size() : 0;
        loop_->slow_readers().moved(*this, slow_, output_.bytes() + next);
      }
      const ServerOptions& options = loop_->options();
      wait_until(Waiting::write,
                 output_pace_.deadline(options.write_timeout, options.transfer_rate_min));
      return false;
    }
    moved = true;
    turn_bytes_ += sent.bytes;
    output_.advance(sent.bytes);
    output_pace_.moved(sent.bytes, loop_->now());
  }
  if (std::exchange(writing_, false)) {
    waiting_ = Waiting::nothing;
    loop_->slow_readers().remove(slow_);
  }
  output_.clear();
  if (close_after_flush_) {
    linger();
    return false;
  }
  return true;
}

void Connection::on_writable() {
  if (!flush()) return;
  if (waiting_response_) {
    Response response = std::move(*waiting_response_);
    waiting_response_.reset();
    return take_response(std::move(response));
  }
  if (!awaiting_response_) process();
}

void Connection::on_too_slow() {
  LoopCounters::count(loop_->counters().slow_readers);
  close();
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
  loop_->slow_readers().remove(slow_);
  loop_->remove(*this);
}

void Connection::on_tick(SteadyTime now) {
  if (waiting_ == Waiting::nothing || now < deadline_) return;
  switch (waiting_) {
    case Waiting::header:
    case Waiting::body:
      waiting_ = Waiting::nothing;
      return reject(408, "The request did not arrive in the time this server gives it.");
    case Waiting::memory:
      waiting_ = Waiting::nothing;
      reservation_.release();
      return reject(503,
                    "The server has no memory for a body as large as this now: try again later.",
                    kRetryLater);
    case Waiting::handshake:
      LoopCounters::count(loop_->counters().tls_failures);
      return close();
    case Waiting::write:
      return on_too_slow();
    case Waiting::nothing:
    case Waiting::idle:
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
