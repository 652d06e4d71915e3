// Frames, messages, pings and closing: see websocket_session.h.
#include "net/websocket_session.h"

#include <simdjson.h>

#include <exception>
#include <utility>

#include "base/survive.h"
#include "net/stream.h"

namespace orrery::net {
namespace {

constexpr size_t kReasonBytesMax = 123;

bool is_control(Opcode opcode) {
  return (static_cast<uint8_t>(opcode) & 0x8) != 0;
}

bool is_known(Opcode opcode) {
  switch (opcode) {
    case Opcode::continuation:
    case Opcode::text:
    case Opcode::binary:
    case Opcode::close:
    case Opcode::ping:
    case Opcode::pong:
      return true;
  }
  return false;
}

// Codes that a peer may send: those that are assigned, and those for libraries and applications.
bool may_be_sent(uint16_t code) {
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
         (code >= 3000 && code <= 4999);
}

bool is_utf8(std::string_view text) {
  return simdjson::validate_utf8(text.data(), text.size());
}

}  // namespace

WebSocketSession::WebSocketSession(Stream& stream, const WebSocketLimits& limits,
                                   std::unique_ptr<WebSocketHandler> handler)
    : Session(stream),
      limits_(limits),
      handler_(std::move(handler)),
      heard_at_(stream.now()),
      close_code_(close_code::kAbnormal) {}

// ---- Receiving

Next WebSocketSession::on_input(InputBuffer& input) {
  if (stream_.stopping() && !close_sent_) begin_close(close_code::kGoingAway, "the server stops");
  if (input.size() > 0) {
    heard_at_ = stream_.now();
    ping_sent_ = false;
  }
  for (;;) {
    if (failed_) return {.kind = Next::Kind::again};
    if (paused_ || stream_.waits_for_memory()) return {.kind = Next::Kind::wait};
    FramePiece piece;
    switch (frames_.next(input, piece)) {
      case WebSocketFrames::Outcome::need_more:
        return need_more();
      case WebSocketFrames::Outcome::malformed:
        fail(close_code::kProtocolError, "a malformed frame");
        continue;
      case WebSocketFrames::Outcome::piece:
        break;
    }
    switch (take_piece(piece)) {
      case Step::go_on:
        continue;
      case Step::message_done:
        return {.kind = Next::Kind::again};
    }
  }
}

Next WebSocketSession::need_more() {
  if (close_sent_) return {.deadline = deadline_};
  if (in_message_ || frames_.in_frame()) return {.paced = true};
  return {.deadline = ping_sent_ ? deadline_ : heard_at_ + limits_.ping_interval};
}

WebSocketSession::Step WebSocketSession::take_piece(const FramePiece& piece) {
  if (!in_frame_ && !begin_frame(piece)) return Step::go_on;
  frame_bytes_left_ -= piece.data.size();
  (is_control(opcode_) ? control_ : message_).append(piece.data);
  if (frame_bytes_left_ == 0) return end_frame(piece.last_of_message);
  return Step::go_on;
}

bool WebSocketSession::begin_frame(const FramePiece& piece) {
  const auto refuse = [this](uint16_t code, std::string_view reason) {
    fail(code, reason);
    return false;
  };
  if (!piece.masked) return refuse(close_code::kProtocolError, "a frame without a mask");
  if (piece.reserved_bits) return refuse(close_code::kProtocolError, "an extension's bits are set");
  if (!is_known(piece.opcode)) return refuse(close_code::kProtocolError, "an unknown opcode");
  if (!is_control(piece.opcode)) {
    if (in_message_ != (piece.opcode == Opcode::continuation)) {
      return refuse(close_code::kProtocolError,
                    in_message_ ? "a message within another" : "a continuation of no message");
    }
    if (piece.payload_bytes > limits_.message_bytes_max - message_.size()) {
      return refuse(close_code::kTooBig, "the message is larger than this server accepts");
    }
    if (!in_message_) {
      in_message_ = true;
      kind_ = piece.opcode == Opcode::text ? MessageKind::text : MessageKind::binary;
    }
    // More than is free is reserved at once for all that may still come, so that messages which
    // have begun do not wait for one another.
    const size_t with_frame = message_.size() + piece.payload_bytes;
    if (with_frame > InputBuffer::kFreeBytes) {
      static_cast<void>(
          stream_.reserve(piece.last_of_message ? with_frame : limits_.message_bytes_max));
    }
  }
  opcode_ = piece.opcode;
  in_frame_ = true;
  frame_bytes_left_ = piece.payload_bytes;
  return true;
}

WebSocketSession::Step WebSocketSession::end_frame(bool last_of_message) {
  in_frame_ = false;
  if (is_control(opcode_)) {
    on_control();
    control_.clear();
    if (!in_message_) stream_.release_memory();
    return Step::message_done;
  }
  if (!last_of_message) return Step::go_on;
  if (kind_ == MessageKind::text && !is_utf8(message_)) {
    fail(close_code::kInvalidData, "the text is not UTF-8");
    return Step::go_on;
  }
  deliver();
  return Step::message_done;
}

void WebSocketSession::deliver() {
  LoopCounters::count(stream_.counters().requests);
  in_message_ = false;
  std::string message = std::exchange(message_, {});
  stream_.release_memory();
  if (close_sent_) return;
  in_handler_ = true;
  try {
    handler_->on_message(*this, kind_, std::move(message));
  } catch (const std::exception& error) {
    note_exception("handling a message", error.what());
    LoopCounters::count(stream_.counters().failures);
    fail(close_code::kServerError, "the server failed");
  }
  in_handler_ = false;
}

void WebSocketSession::on_control() {
  switch (opcode_) {
    case Opcode::ping:
      if (!close_sent_) append(Opcode::pong, control_);
      return;
    case Opcode::close:
      return on_close_frame();
    default:  // a pong: that something was heard is noted already
      return;
  }
}

void WebSocketSession::on_close_frame() {
  uint16_t code = close_code::kNoneGiven;
  if (control_.size() == 1) return fail(close_code::kProtocolError, "half a code");
  if (control_.size() >= 2) {
    code = static_cast<uint16_t>(static_cast<unsigned char>(control_[0]) << 8 |
                                 static_cast<unsigned char>(control_[1]));
    if (!may_be_sent(code)) return fail(close_code::kProtocolError, "a code that nobody may send");
    if (!is_utf8(std::string_view(control_).substr(2))) {
      return fail(close_code::kInvalidData, "the reason is not UTF-8");
    }
  }
  close_code_ = code;
  closing_ = true;
  failed_ = true;
  // The answer is the code alone.
  if (!std::exchange(close_sent_, true)) {
    append(Opcode::close, std::string_view(control_).substr(0, 2));
  }
  stream_.end();
}

// ---- Time

void WebSocketSession::on_deadline(Waiting what) {
  switch (what) {
    case Waiting::body:
      return fail(close_code::kPolicy, "the message did not arrive in time");
    case Waiting::memory:
      return fail(close_code::kTryLater, "no memory for a message as large as this now");
    default:
      break;
  }
  if (close_sent_ || ping_sent_) return stream_.close();
  append(Opcode::ping, {});
  ping_sent_ = true;
  deadline_ = stream_.now() + limits_.pong_timeout;
  stream_.resume();  // writes it, and waits until then
}

void WebSocketSession::on_no_memory() {
  fail(close_code::kTryLater, "no memory for a frame as large as this now");
}

void WebSocketSession::on_stopping() {
  if (close_sent_) return;
  begin_close(close_code::kGoingAway, "the server stops");
  stream_.resume();
}

// ---- Closing

void WebSocketSession::begin_close(uint16_t code, std::string_view reason) {
  if (std::exchange(close_sent_, true)) return;
  closing_ = true;
  paused_ = false;
  deadline_ = stream_.now() + limits_.close_timeout;
  std::string payload;
  payload += static_cast<char>(code >> 8);
  payload += static_cast<char>(code & 0xff);
  payload += reason.substr(0, kReasonBytesMax);
  append(Opcode::close, payload);
}

void WebSocketSession::fail(uint16_t code, std::string_view reason) {
  failed_ = true;
  message_ = {};
  LoopCounters::count(stream_.counters().bad_requests);
  begin_close(code, reason);
  stream_.end();
}

void WebSocketSession::on_closed() noexcept {
  closing_ = true;
  message_ = {};
  stream_.release_memory();
  handler_->on_closed(close_code_);
}

void WebSocketSession::close(uint16_t code, std::string reason) noexcept {
  if (closing_.exchange(true)) return;
  const auto begin = [this, code, why = std::move(reason)] {
    begin_close(code, why);
    stream_.resume();  // writes it, and waits for the answer
  };
  if (stream_.on_loop_thread() && in_handler_) {
    if (!survive("closing a WebSocket", begin)) stream_.on_failure();
    return;
  }
  if (stream_.post(begin)) return;
  cut_off_ = true;
  stream_.notify();
}

// ---- Sending

bool WebSocketSession::send(MessageKind kind, std::string message) noexcept {
  if (closing_.load()) return false;
  const size_t size = message.size();
  const bool here = stream_.on_loop_thread() && in_handler_;
  const size_t before = unsent_bytes();
  posted_bytes_.fetch_add(size);
  if (before > 0 && before + size > limits_.send_queue_bytes_max) {
    posted_bytes_.fetch_sub(size);
    closing_ = cut_off_ = true;
    stream_.notify();
    return false;
  }
  const auto write = [this, kind](const std::string& text) {
    posted_bytes_.fetch_sub(text.size());
    if (close_sent_) return;
    append(kind == MessageKind::text ? Opcode::text : Opcode::binary, text);
    stream_.tell_when_written();
  };
  if (here) {
    const bool written = survive("sending a message", [&] { write(message); });
    if (!written) stream_.on_failure();
    return written;
  }
  const bool posted = stream_.post([this, write, late = std::move(message)] {
    write(late);
    stream_.write_soon();
  });
  if (posted) return true;
  closing_ = cut_off_ = true;
  stream_.notify();
  return false;
}

// Behind what the peer has not taken yet frames wait here: the stream's output is written as a
// whole, and would not become smaller while there is always more.
void WebSocketSession::append(Opcode opcode, std::string_view payload) {
  if (stream_.writing()) {
    const size_t before = queue_.size();
    frames_.append(queue_, opcode, payload);
    stream_.queued(queue_.size() - before);
    unsent_bytes_ += queue_.size() - before;
  } else {
    frames_.append(stream_.output().text(), opcode, payload);
  }
}

void WebSocketSession::on_slow() {
  unsent_bytes_ = stream_.output().bytes();
}

void WebSocketSession::on_written() {
  unsent_bytes_ = 0;
  stream_.output().text() = std::exchange(queue_, {});
  if (stream_.output().unsent() || closing_) return;
  in_handler_ = true;
  handler_->on_all_taken(*this);
  in_handler_ = false;
}

size_t WebSocketSession::unsent_bytes() const {
  size_t bytes = posted_bytes_.load() + unsent_bytes_.load();
  if (stream_.on_loop_thread() && !stream_.writing()) bytes += stream_.output().bytes();
  return bytes;
}

void WebSocketSession::on_notified() noexcept {
  if (cut_off_) stream_.on_too_slow();
}

// ---- The rest of what handlers ask for

void WebSocketSession::resume() noexcept {
  const auto go_on = [this] {
    if (std::exchange(paused_, false)) stream_.resume();
  };
  if (stream_.on_loop_thread() && in_handler_) {
    paused_ = false;
  } else if (!stream_.post(go_on)) {
    cut_off_ = true;
    stream_.notify();
  }
}

bool WebSocketSession::is_gone() const {
  return closing_.load() || stream_.peer_gone();
}

std::shared_ptr<WebSocket> WebSocketSession::share() {
  return {stream_.shared_from_this(), this};
}

}  // namespace orrery::net
