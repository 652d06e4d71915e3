// See session.h.
#include "api/mongo/session.h"

#include <exception>
#include <utility>

#include "api/mongo/bson/bson_writer.h"
#include "base/survive.h"
#include "net/input_buffer.h"
#include "net/stream.h"

namespace orrery::mongo {
namespace {

using net::InputBuffer;
using net::Next;

// Smaller answers are copied behind one another; larger ones are written from where they are.
constexpr size_t kCopiedReplyBytesMax = 16 * 1024;
// What somebody who has not logged in may send: a handshake takes less than 2 KB.
constexpr size_t kMessageBeforeLoginMax = 64 * 1024;

constexpr Next kAgain{.kind = Next::Kind::again};
constexpr Next kWait{.kind = Next::Kind::wait};
constexpr Next kFlush{.kind = Next::Kind::flush};

std::string error_document(const Error& error) {
  BsonWriter document;
  document.real("ok", 0).string("errmsg", error.message).int32("code", error.code);
  document.string("codeName", code_name(error.code));
  return document.take();
}

}  // namespace

WireSession::WireSession(net::Stream& stream, CommandReceiver& receiver)
    : Session(stream), receiver_(receiver) {}

Next WireSession::on_input(InputBuffer& input) {
  if (!is_connected_) {
    connection_ = receiver_.connect(stream_);
    is_connected_ = true;
  }
  if (input.size() < kHeaderBytes) {
    if (stream_.stopping() && input.size() == 0) stream_.end();
    return {.begun = input.size() > 0};
  }
  const Header header = Header::read(input.data());
  const size_t most = connection_.access.has_value() ? kMaxMessageBytes : kMessageBeforeLoginMax;
  if (header.length < static_cast<int32_t>(kHeaderBytes) ||
      static_cast<size_t>(header.length) > most) {
    refuse_message({.request_id = header.request_id},
                   {.code = kInvalidLength,
                    .message = "the header's length is not that of a message: 16 to " +
                               std::to_string(most) + " bytes make one"});
    stream_.end();
    return kAgain;
  }
  const auto length = static_cast<size_t>(header.length);
  if (input.size() < std::min(length, kCompressedHeadBytes)) return {.begun = true};
  const size_t decoded = decoded_bytes({input.data(), std::min(length, input.size())});
  if (!is_admitted_ && (length > InputBuffer::kFreeBytes || decoded > InputBuffer::kFreeBytes)) {
    if (decoded > most) {
      refuse_message({.request_id = header.request_id},
                     {.code = kInvalidLength, .message = "the message is too large inside"});
      stream_.end();
      return kAgain;
    }
    // From here on the stream may wait, and nobody should wait with it for answers before this.
    if (stream_.output().unsent()) return kFlush;
    if (!stream_.reserve(length + decoded)) return kWait;
    is_admitted_ = true;
  }
  if (input.size() < length) return {.begun = true, .paced = true, .input_bytes = length};
  return dispatch(input, length);
}

Next WireSession::dispatch(InputBuffer& input, size_t size) {
  net::LoopCounters::count(stream_.counters().requests);
  message_bytes_ = size;
  auto message = parse_message({input.data(), size});
  if (!message) {
    refuse_message({.request_id = Header::read(input.data()).request_id}, message.error());
    next_message();
    return kAgain;
  }
  is_waiting_ = true;
  in_receiver_ = true;
  try {
    receiver_.receive(std::move(*message), connection_,
                      std::shared_ptr<ReplySink>(stream_.shared_from_this(), this));
  } catch (const std::exception& error) {
    // The call was destroyed on the way here: abandon() was called.
    note_exception("handling a command", error.what());
    net::LoopCounters::count(stream_.counters().failures);
  }
  in_receiver_ = false;
  if (is_waiting_) return kWait;
  next_message();
  return kAgain;
}

void WireSession::next_message() {
  stream_.input().consume(message_bytes_);
  message_bytes_ = 0;
  stream_.release_memory();
  is_admitted_ = false;
}

void WireSession::refuse_message(const ReplyForm& form, const Error& error) {
  net::LoopCounters::count(stream_.counters().bad_requests);
  append_reply(make_reply(form, 0, error_document(error)));
}

// ---- Answers

void WireSession::append_reply(std::string reply) {
  is_waiting_ = false;
  net::OutputBuffer& output = stream_.output();
  if (reply.size() <= kCopiedReplyBytesMax) {
    output.text().append(reply);
  } else {
    output.set_body(std::move(reply));
  }
}

void WireSession::send(std::string reply) noexcept {
  if (stream_.on_loop_thread() && in_receiver_ && !stream_.output().has_body()) {
    if (!survive("answering a command", [&] { append_reply(std::move(reply)); })) {
      stream_.on_failure();
    }
    return;
  }
  // The work holds the stream, which holds this.
  const bool posted =
      stream_.post([this, late = std::move(reply)]() mutable { take_reply(std::move(late)); });
  if (!posted) abandon();
}

void WireSession::take_reply(std::string reply) {
  if (stream_.writing()) {
    stream_.queued(reply.size());
    waiting_reply_.emplace(std::move(reply));
    return;
  }
  append_reply(std::move(reply));
  next_message();
  stream_.resume();
}

void WireSession::on_written() {
  if (!waiting_reply_) return;
  std::string reply = std::move(*waiting_reply_);
  waiting_reply_.reset();
  take_reply(std::move(reply));
}

void WireSession::abandon() noexcept {
  is_abandoned_.store(true);
  stream_.notify();
}

void WireSession::hang_up() noexcept {
  // Never within the call of receive(): the stream is still at work on its input.
  if (!stream_.post([this] { stream_.close(); })) abandon();
}

void WireSession::on_notified() noexcept {
  if (!is_abandoned_.exchange(false)) return;
  const bool answered = survive("answering a command", [&] {
    const Header header = Header::read(stream_.input().data());
    take_reply(make_reply(
        {.request_id = header.request_id}, 0,
        error_document({.code = kInternalError, .message = "the server gave no answer to this"})));
  });
  if (!answered) stream_.on_failure();
}

bool WireSession::is_gone() const {
  return stream_.peer_gone();
}

void WireSession::on_stopping() {
  // Otherwise a command is under way, or its answer.
  if (stream_.idle() && !stream_.has_unread()) stream_.close();
}

void WireSession::on_closed() noexcept {
  if (is_connected_) receiver_.disconnected(connection_);
}

}  // namespace orrery::mongo
