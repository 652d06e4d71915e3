// The life of a connection: handshake, read, hand over, write, linger, close. See connection.h for
// the order in which it alternates and for who may touch what.
#include "net/connection.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <array>
#include <exception>

#include "base/log.h"
#include "net/response_head.h"

namespace orrery::net {
namespace {

using boost::system::error_code;

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

std::string peer_name(const Socket& socket) {
  error_code failed;
  const auto endpoint = socket.remote_endpoint(failed);
  if (failed) return "unknown";
  const std::string address = endpoint.address().to_string(failed);
  return endpoint.address().is_v6() ? fmt::format("[{}]:{}", address, endpoint.port())
                                    : fmt::format("{}:{}", address, endpoint.port());
}

}  // namespace

Connection::Connection(std::shared_ptr<EventLoop> loop, Socket socket, bool refused)
    : loop_(std::move(loop)),
      socket_(std::move(socket)),
      peer_(peer_name(socket_)),
      parser_(loop_->options().header_bytes_max, loop_->options().body_bytes_max),
      refused_(refused) {}

void Connection::wait(Waiting what, std::chrono::milliseconds limit) {
  waiting_ = what;
  deadline_ = std::chrono::steady_clock::now() + limit;
}

void Connection::start() {
  error_code failed;
  socket_.non_blocking(true, failed);
  if (failed) return close();
  socket_.set_option(asio::ip::tcp::no_delay(true), failed);
  if (refused_) {
    return reject(503, "The server has as many connections as it accepts: try again later.");
  }
  wait(Waiting::idle, loop_->options().idle_timeout);
  socket_.async_wait(Socket::wait_read, [self = shared_from_this()](const error_code& error) {
    if (self->closed_) return;
    if (error) return self->close();
    self->on_first_byte();
  });
}

void Connection::on_first_byte() {
  unsigned char first = 0;
  error_code failed;
  socket_.receive(asio::buffer(&first, 1), asio::socket_base::message_peek, failed);
  if (failed) return close();
  request_.peer = peer_;
  if (first != kTlsHandshakeRecord) return read();
  if (loop_->shared().tls) return begin_tls();
  LoopCounters::count(loop_->counters().tls_failures);
  if (loop_->first_tls_refusal()) {
    log::warn("refused a TLS connection: the server was started without a certificate",
              {{"peer", peer_}});
  }
  close();
}

void Connection::begin_tls() {
  request_.tls = true;
  tls_ = std::make_unique<TlsStream>(socket_, *loop_->shared().tls);
  wait(Waiting::handshake, loop_->options().header_timeout);
  tls_->async_handshake(asio::ssl::stream_base::server,
                        [self = shared_from_this()](const error_code& failed) {
                          if (self->closed_) return;
                          if (failed) {
                            LoopCounters::count(self->loop_->counters().tls_failures);
                            return self->close();
                          }
                          self->waiting_ = Waiting::nothing;
                          self->process();
                        });
}

// ---- Reading

void Connection::read() {
  const ServerOptions& options = loop_->options();
  if (parser_.reading_body()) {
    wait(Waiting::body, options.body_timeout);
  } else if (input_.size() > 0) {
    if (waiting_ != Waiting::header) wait(Waiting::header, options.header_timeout);
  } else {
    wait(Waiting::idle, options.idle_timeout);
  }
  reading_ = true;
  const std::span<char> room = input_.room(parser_.bytes_wanted());
  auto done = [self = shared_from_this()](const error_code& failed, size_t size) {
    self->on_read(failed, size);
  };
  if (tls_) {
    tls_->async_read_some(asio::buffer(room.data(), room.size()), std::move(done));
  } else {
    socket_.async_read_some(asio::buffer(room.data(), room.size()), std::move(done));
  }
}

void Connection::on_read(const error_code& failed, size_t size) {
  reading_ = false;
  if (closed_) return;
  if (lingering_) return failed ? close() : drain();
  if (close_after_flush_) return;  // timed out meanwhile: the refusal is being written
  if (failed) return close();
  input_.added(size);
  process();
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
    if (!flush()) return;
    return read();
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
    // The Responder was destroyed on the way here and has answered 500.
    log::error("a request failed",
               {{"method", request_.method}, {"target", request_.target}, {"error", error.what()}});
  }
  in_handler_ = false;
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

void Connection::send(Response&& response) {
  if (loop_->on_thread() && in_handler_) return append_response(response);
  // Dropped if the loop has finished: then the connection is closed and nobody waits for it.
  loop_->post([self = shared_from_this(), late = std::move(response)]() mutable {
    self->take_response(std::move(late));
  });
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
    const std::array<asio::const_buffer, 2> buffers = {
        asio::buffer(out_.data() + out_done_, out_.size() - out_done_),
        asio::buffer(body_.data() + body_done_, body_.size() - body_done_)};
    if (tls_) {
      writing_ = true;
      wait(Waiting::write, loop_->options().write_timeout);
      tls_->async_write_some(buffers[0].size() > 0 ? buffers[0] : buffers[1],
                             [self = shared_from_this()](const error_code& failed, size_t size) {
                               self->on_writable(failed, size);
                             });
      return false;
    }
    error_code failed;
    // One buffer is one send(), which costs less than gathering from two.
    const size_t size = body_.empty() ? socket_.write_some(buffers[0], failed)
                                      : socket_.write_some(buffers, failed);
    if (failed == asio::error::would_block) {
      writing_ = true;
      wait(Waiting::write, loop_->options().write_timeout);
      socket_.async_wait(Socket::wait_write, [self = shared_from_this()](const error_code& error) {
        self->on_writable(error, 0);
      });
      return false;
    }
    if (failed) {
      close();
      return false;
    }
    advance(size);
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

void Connection::on_writable(const error_code& failed, size_t size) {
  writing_ = false;
  if (closed_) return;
  if (failed) return close();
  advance(size);
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
  if (!tls_) {
    error_code ignored;
    socket_.shutdown(Socket::shutdown_send, ignored);
    if (!reading_) drain();
    return;
  }
  if (reading_) return close();
  tls_->async_shutdown([self = shared_from_this()](const error_code&) {
    if (self->closed_) return;
    error_code ignored;
    self->socket_.shutdown(Socket::shutdown_send, ignored);
    self->drain();
  });
}

// Reads and forgets, until the client closes or has used up what it is granted.
void Connection::drain() {
  std::array<char, 16 * 1024> forgotten;
  while (drained_bytes_ < kLingerBytesMax) {
    error_code failed;
    drained_bytes_ += socket_.read_some(asio::buffer(forgotten), failed);
    if (failed == asio::error::would_block) {
      socket_.async_wait(Socket::wait_read, [self = shared_from_this()](const error_code& error) {
        if (self->closed_) return;
        if (error) return self->close();
        self->drain();
      });
      return;
    }
    if (failed) break;
  }
  close();
}

void Connection::close() {
  if (closed_) return;
  closed_ = true;
  const std::shared_ptr<Connection> self = shared_from_this();
  error_code ignored;
  socket_.close(ignored);
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
  error_code failed;
  if (socket_.available(failed) == 0 || failed) close();
}

}  // namespace orrery::net
