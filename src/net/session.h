// A protocol on top of a Stream.
//
// A session is given the received bytes, consumes what it can use, and says what it needs next. It
// writes, ends and waits through its Stream (stream.h), which does the I/O and enforces the limits
// of time and memory. HTTP is one kind (http_session.h), WebSocket another (websocket_session.h).
//
// Threading: all calls come on the loop's thread. What is ready later, on another thread, comes
// back through Stream::post or Stream::notify; whoever holds a shared_ptr to the stream holds its
// session too, and may find the stream closed.
//
// Lifetime: made with its stream, or at a take-over; destroyed with the stream, on the thread that
// lets go of it last.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace orrery::net {

class InputBuffer;
class Stream;

using SteadyTime = std::chrono::steady_clock::time_point;

// What a session needs after it has looked at its input.
struct Next {
  enum class Kind : uint8_t {
    more,   // more bytes than there are
    again,  // one message is done: call again when it is this stream's turn
    flush,  // call again when all output is written
    wait,   // nothing, until Stream::resume, or until the memory of Stream::reserve is there
  };

  Kind kind = Kind::more;
  // Of `more`: a message has begun, even if none of its bytes are left in the input. It has the
  // listener's head_timeout; without it, the peer may be silent for idle_timeout.
  bool begun = false;
  // Of `more`: the rest of the message comes at the pace of body_timeout and transfer_rate_min.
  bool paced = false;
  // Of `more`: how large the input will be with the whole message; 0 when that is not known.
  size_t input_bytes = 0;
  // Of `more`, this instead of the listener's time limits; of `wait`, which has none otherwise,
  // too.
  std::optional<SteadyTime> deadline = std::nullopt;
};

// What a stream can wait for in vain.
enum class Waiting : uint8_t {
  nothing,
  idle,
  handshake,
  head,
  memory,
  body,
  session,  // Next::deadline
  write,
  linger,
};

class Session {
 public:
  virtual ~Session() = default;

  // Takes what it can use from the start of `input`. Called again after every change of it, and
  // once when nothing has come yet. Bytes that it leaves stay where they are until the next call.
  virtual Next on_input(InputBuffer& input) = 0;
  // Back-pressure: the peer does not take the output as fast as it is made. The session is not
  // called for input until on_written, and should hold back its output until then.
  virtual void on_slow() {}
  // All output is written, after on_slow or Stream::tell_when_written.
  virtual void on_written() {}
  // What stays unsent here, behind the output of the stream.
  virtual size_t queued_bytes() const { return 0; }
  // idle, head, memory, body or session: it did not come in time. Must end or close the stream, or
  // let it go on.
  virtual void on_deadline(Waiting what);
  // There is no memory for an input of more than InputBuffer::kFreeBytes that was not reserved.
  virtual void on_no_memory();
  // The listener has as many connections as it may: called instead of everything else.
  virtual void on_refused();
  // The server is about to stop. Stream::stopping() stays true from here on.
  virtual void on_stopping() = 0;
  // After Stream::notify.
  virtual void on_notified() noexcept {}
  // The stream is closed, for whatever reason: nothing can be written any more.
  virtual void on_closed() noexcept {}

 protected:
  explicit Session(Stream& stream) : stream_(stream) {}

  Stream& stream_;
};

// Makes the session of a new connection.
using SessionFactory = std::function<std::unique_ptr<Session>(Stream&)>;

// Makes the session that goes on with a connection, once.
class TakeOver {
 public:
  virtual ~TakeOver() = default;
  virtual std::unique_ptr<Session> begin(Stream& stream) = 0;
};

}  // namespace orrery::net
