// The life of a stream: handshake, read, hand over, write, linger, close. See stream.h for the
// order in which it alternates and for who may touch what.
#include "net/stream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>

#include "base/log.h"

namespace orrery::net {
namespace {

// Answers to pipelined requests are gathered up to here before they are written.
constexpr size_t kGatherBytes = 64 * 1024;
// What one stream may do before the others of its loop have their turn. (A message may take a
// millisecond, which is what the face allows a query on the loop.)
constexpr size_t kTurnMessagesMax = 16;
constexpr size_t kTurnBytesMax = 256 * 1024;
// After the last answer the client gets this long, and may send this much, before the connection
// is cut: closing with bytes unread would reset it and could take the answer away with it.
constexpr std::chrono::milliseconds kLingerTime{2'000};
constexpr size_t kLingerBytesMax = 16 * 1024 * 1024;

// How TLS begins: a record of a handshake, and its version, 3.1 to 3.4.
constexpr unsigned char kTlsHandshakeRecord = 0x16;
constexpr unsigned char kTlsMajor = 3;
constexpr unsigned char kTlsMinorMax = 4;
constexpr size_t kTlsStartBytes = 3;

}  // namespace

// ---- What sessions do unless they say otherwise

void Session::on_deadline(Waiting /*what*/) {
  stream_.close();
}

void Session::on_no_memory() {
  stream_.close();
}

void Session::on_refused() {
  stream_.close();
}

// ---- Beginning

Stream::Stream(std::shared_ptr<EventLoop> loop, ListenerState& listener, FileDescriptor fd,
               bool refused)
    : loop_(std::move(loop)),
      listener_(listener),
      counters_(listener.of_loops[loop_->number()]),
      transport_(std::move(fd)),
      peer_(transport_.peer_name()),
      refused_(refused) {}

void Stream::wait(Waiting what, std::chrono::milliseconds limit) {
  wait_until(what, loop_->now() + limit);
}

void Stream::wait_until(Waiting what, SteadyTime deadline) {
  waiting_ = what;
  deadline_ = deadline;
}

void Stream::start() {
  const int on = 1;
  ::setsockopt(transport_.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  session_ = listener_.spec.sessions(*this);
  if (auto watched = loop_->watch(transport_.fd(), *this); !watched) return close();
  if (refused_) {
    // Without a handshake, which is more than somebody who is refused may ask for.
    settling_ = false;
    paused_ = true;
    return session_->on_refused();
  }
  wait(Waiting::idle, limits().idle_timeout);
}

void Stream::on_events(uint32_t events) {
  const std::shared_ptr<Stream> self = shared_from_this();
  if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) {
    gone_.store(true, std::memory_order_relaxed);
  }
  transport_.on_events(events);
  if (settling_) return transport_.tls() ? shake_hands() : on_first_byte();
  if (writing_) {
    // What the peer sends does not buy it time to take its answers; beneath TLS either may be due.
    if (transport_.tls() || (events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0) on_writable();
    return;
  }
  if (lingering_) return drain();
  if (memory_wanted_ > 0) {
    if ((events & (EPOLLHUP | EPOLLERR)) != 0) close();
    return;
  }
  if (!paused_ && !yielded_) pump();
}

void Stream::on_first_byte() {
  std::array<unsigned char, kTlsStartBytes> start{};
  const Transfer seen = transport_.peek(start);
  switch (seen.flow) {
    case Flow::wait:
      return;
    case Flow::over:
      return close();
    case Flow::moved:
      break;
  }
  switch (listener_.spec.tls) {
    case TlsMode::off:
      break;
    case TlsMode::on:
      return begin_tls();
    case TlsMode::by_first_byte:
      // A binary protocol may begin with the first of these bytes, too.
      if (start[0] != kTlsHandshakeRecord) break;
      if (seen.bytes < start.size() && !peer_gone()) {
        // Until it has sent them, it has as long as for a handshake.
        if (waiting_ != Waiting::handshake) wait(Waiting::handshake, limits().head_timeout);
        return;
      }
      if (start[1] == kTlsMajor && start[2] >= 1 && start[2] <= kTlsMinorMax) return begin_tls();
      break;
  }
  settling_ = false;
  waiting_ = Waiting::nothing;
  pump();
}

void Stream::begin_tls() {
  SSL_CTX* tls = loop_->server().tls.get();
  if (tls != nullptr && transport_.begin_tls(tls)) {
    wait(Waiting::handshake, limits().head_timeout);
    return shake_hands();
  }
  LoopCounters::count(counters_.tls_failures);
  // Not for every connection.
  if (tls == nullptr && !listener_.tls_refusal_logged.exchange(true)) {
    log::warn("refused a TLS connection: the server was started without a certificate",
              {{"listener", listener_.spec.name}, {"peer", peer_}});
  }
  close();
}

void Stream::shake_hands() {
  switch (transport_.handshake()) {
    case Flow::wait:
      return;
    case Flow::over:
      LoopCounters::count(counters_.tls_failures);
      return close();
    case Flow::moved:
      waiting_ = Waiting::nothing;
      settling_ = false;
      return pump();
  }
}

// ---- Turns

void Stream::on_turn_end() {
  writes_later_ = false;
  if (closed_ || writing_ || lingering_) return;
  if (!yielded_) return pump();
  if (output_.unsent()) flush();
}

// True: the output is written at the end of this turn, with that of the others.
bool Stream::write_later() {
  if (!writes_later_) writes_later_ = loop_->write_later(shared_from_this());
  return writes_later_;
}

void Stream::on_next_turn() {
  yielded_ = false;
  if (!closed_ && !writing_ && !lingering_) pump();
}

bool Stream::must_flush() const {
  return output_.has_body() || output_.text_bytes() >= kGatherBytes || ending_;
}

void Stream::pump() {
  turn_messages_ = turn_bytes_ = 0;
  for (;;) {
    if (next_session_) replace_session();
    // While it waits: nobody should wait for a late answer to get those before it.
    if ((paused_ || must_flush()) && !flush()) return;
    if (turn_messages_ >= kTurnMessagesMax || turn_bytes_ >= kTurnBytesMax) {
      yielded_ = true;
      return loop_->go_on_later(shared_from_this());
    }
    if (tells_written_ && !output_.unsent()) {
      tell_written();
      if (closed_) return;
      continue;
    }
    if (paused_) return;
    in_session_ = true;
    const Next next = session_->on_input(input_);
    in_session_ = false;
    if (closed_) return;
    switch (next.kind) {
      case Next::Kind::again:
        ++turn_messages_;
        waiting_ = Waiting::nothing;
        continue;
      case Next::Kind::flush:
        if (!flush()) return;
        continue;
      case Next::Kind::wait:
        pause(next);
        continue;
      case Next::Kind::more:
        break;
    }
    if (output_.unsent() && write_later()) return;
    if (!flush()) return;
    if (tells_written_) continue;
    if (!fill(next)) return;
  }
}

void Stream::pause(const Next& next) {
  paused_ = true;
  if (next.deadline) {
    wait_until(Waiting::session, *next.deadline);
  } else if (memory_wanted_ == 0) {
    waiting_ = Waiting::nothing;
  }
}

void Stream::tell_written() {
  tells_written_ = false;
  in_session_ = true;
  session_->on_written();
  in_session_ = false;
}

void Stream::resume() {
  paused_ = false;
  if (!in_session_ && !closed_ && !writing_ && !lingering_ && !yielded_ && !settling_) pump();
}

void Stream::replace_session() {
  former_sessions_.push_back(std::move(session_));
  session_ = std::move(next_session_);
  release_memory();
  waiting_ = Waiting::nothing;
}

// ---- Reading

bool Stream::fill(const Next& next) {
  if (!reserved_ && !next.paced && input_.next_capacity() > InputBuffer::kFreeBytes) {
    const size_t more = input_.next_capacity() - InputBuffer::kFreeBytes;
    if (!loop_->server().heads.try_reserve(reservation_, more)) {
      session_->on_no_memory();
      return false;
    }
  }
  const Transfer got = transport_.read(input_.room(next.input_bytes));
  if (got.flow == Flow::over) {
    close();
    return false;
  }
  input_.added(got.bytes);
  turn_bytes_ += got.bytes;
  note_read(next, got.bytes);
  return got.flow == Flow::moved;
}

// Sets the time limit of what is to come after so many bytes came.
void Stream::note_read(const Next& next, size_t bytes) {
  if (next.paced) {
    if (!std::exchange(pacing_, true)) input_pace_.begin(loop_->now());
    input_pace_.moved(bytes, loop_->now());
    wait_until(Waiting::body,
               input_pace_.deadline(limits().body_timeout, limits().transfer_rate_min));
  } else if (next.deadline) {
    wait_until(Waiting::session, *next.deadline);
  } else if (input_.size() == 0 && !next.begun) {
    wait(Waiting::idle, limits().idle_timeout);
  } else if (waiting_ != Waiting::head) {
    wait(Waiting::head, limits().head_timeout);
  }
}

bool Stream::reserve(size_t bytes) {
  if (bytes <= InputBuffer::kFreeBytes) return true;
  const size_t more = bytes - InputBuffer::kFreeBytes;
  const bool reserved = loop_->server().bodies.reserve_or_queue(
      reservation_, more, [weak = weak_from_this(), loop = loop_] {
        loop->post([weak] {
          if (const auto self = weak.lock()) self->on_memory();
        });
      });
  if (reserved) {
    reserved_ = true;
  } else {
    memory_wanted_ = more;
    wait(Waiting::memory, limits().buffer_timeout);
  }
  return reserved;
}

void Stream::release_memory() {
  reserved_ = pacing_ = false;
  memory_wanted_ = 0;
  if (input_.capacity() <= InputBuffer::kFreeBytes) reservation_.release();
}

void Stream::on_memory() {
  // What came may be for a message that did not wait for it in the end.
  if (closed_ || memory_wanted_ == 0 || reservation_.bytes() < memory_wanted_) return;
  memory_wanted_ = 0;
  if (waiting_ == Waiting::memory) waiting_ = Waiting::nothing;
  resume();
}

// ---- Writing

void Stream::write_soon() {
  // Otherwise it is written when the session returns, or when the peer has taken what was before.
  if (in_session_ || closed_ || writing_ || lingering_ || !output_.unsent()) return;
  if (!must_flush() && write_later()) return;
  if (flush() && tells_written_ && !yielded_) pump();
}

bool Stream::flush() {
  bool moved = false;
  while (output_.unsent()) {
    const Transfer sent = transport_.write(output_.first(), output_.second());
    if (sent.flow == Flow::over) {
      close();
      return false;
    }
    if (sent.flow == Flow::wait) {
      // That the peer sends something, or that TLS does, buys no time: only what is taken does.
      if (!std::exchange(writing_, true)) {
        output_pace_.begin(loop_->now());
        session_->on_slow();
      }
      if (moved || slow_.bytes == 0) {
        loop_->slow_readers().moved(*this, slow_, output_.bytes() + session_->queued_bytes());
      }
      wait_until(Waiting::write,
                 output_pace_.deadline(limits().write_timeout, limits().transfer_rate_min));
      return false;
    }
    moved = true;
    turn_bytes_ += sent.bytes;
    output_.advance(sent.bytes);
    output_pace_.moved(sent.bytes, loop_->now());
  }
  if (std::exchange(writing_, false)) {
    waiting_ = Waiting::nothing;
    if (memory_wanted_ > 0) wait(Waiting::memory, limits().buffer_timeout);
    loop_->slow_readers().remove(slow_);
  }
  output_.clear();
  if (ending_) {
    linger();
    return false;
  }
  return true;
}

void Stream::on_writable() {
  if (!flush()) return;
  tells_written_ = true;
  pump();
}

void Stream::on_too_slow() {
  LoopCounters::count(counters_.slow_readers);
  close();
}

// ---- Ending

void Stream::end() {
  ending_ = true;
  if (!in_session_ && !closed_ && !writing_ && !lingering_) flush();
}

void Stream::linger() {
  lingering_ = true;
  wait(Waiting::linger, kLingerTime);
  transport_.end_writing();
  drain();
}

// Reads and forgets, until the client closes or has used up what it is granted.
void Stream::drain() {
  while (drained_bytes_ < kLingerBytesMax) {
    const Transfer got = transport_.discard();
    if (got.flow == Flow::wait) return;
    if (got.flow == Flow::over) break;
    drained_bytes_ += got.bytes;
  }
  close();
}

void Stream::close() {
  if (closed_) return;
  closed_ = true;
  const std::shared_ptr<Stream> self = shared_from_this();
  transport_.close();
  loop_->slow_readers().remove(slow_);
  if (session_) session_->on_closed();
  loop_->remove(*this);
}

void Stream::on_failure() noexcept {
  LoopCounters::count(counters_.failures);
  close();
}

void Stream::notify() noexcept {
  notified_.store(true);
  loop_->look_for_notified();
}

void Stream::on_notified() noexcept {
  if (!notified_.exchange(false) || closed_) return;
  session_->on_notified();
}

void Stream::on_tick(SteadyTime now) {
  if (waiting_ == Waiting::nothing || now < deadline_) return;
  const Waiting what = std::exchange(waiting_, Waiting::nothing);
  switch (what) {
    case Waiting::idle:
      // Whether it speaks the session's protocol at all is not known yet.
      if (settling_) return close();
      return session_->on_deadline(what);
    case Waiting::memory:
      memory_wanted_ = 0;
      reservation_.release();
      return session_->on_deadline(what);
    case Waiting::head:
    case Waiting::body:
    case Waiting::session:
      return session_->on_deadline(what);
    case Waiting::handshake:
      LoopCounters::count(counters_.tls_failures);
      // Closed with bytes unread, it would be reset.
      if (!transport_.tls()) transport_.discard_first(kTlsStartBytes);
      return close();
    case Waiting::write:
      return on_too_slow();
    case Waiting::nothing:
    case Waiting::linger:
      return close();
  }
}

void Stream::on_stopping() {
  if (waiting_ == Waiting::handshake) return close();
  if (settling_) {
    if (!has_unread()) close();
    return;
  }
  if (!lingering_) session_->on_stopping();
}

}  // namespace orrery::net
