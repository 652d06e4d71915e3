// One client connection: the socket, with or without TLS, its input and output buffers, and their
// limits of time and memory. Its Session (session.h) implements the protocol.
//
// It alternates: the session consumes input until it needs more; all output is written at once;
// more is read; and so on. Back-pressure: while output is unsent nothing is read or given to the
// session. So a client that does not read its answers delays only itself, and memory stays bounded.
// A session that has to wait for something else says so, and calls resume().
//
// Before the input holds more than InputBuffer::kFreeBytes, its memory is reserved. What one turn
// of the loop does for a stream is bounded, in messages and in bytes: one that always has more to
// do goes on in the next turn. An exception on the way (memory ran out) ends the stream and nothing
// else.
//
// Threading: the loop's thread, but for post(), notify(), peer_gone() and on_loop_thread(). While
// closed() is false the loop holds the stream; closing happens on the loop's thread, so destruction
// elsewhere (by a late answer) finds the socket closed already.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/survive.h"
#include "net/event_loop.h"
#include "net/input_buffer.h"
#include "net/output_buffer.h"
#include "net/pace.h"
#include "net/session.h"
#include "net/transport.h"

namespace orrery::net {

class Stream final : public Watcher, public std::enable_shared_from_this<Stream> {
 public:
  // `refused`: over the limit of connections; the session tells it so.
  Stream(std::shared_ptr<EventLoop> loop, ListenerState& listener, FileDescriptor fd, bool refused);

  // ---- For sessions, on the loop's thread

  InputBuffer& input() { return input_; }
  // To be appended to, while not writing(). Written when the session needs more input or waits;
  // after a call that did not come from the stream, by write_soon().
  OutputBuffer& output() { return output_; }
  void write_soon();
  bool writing() const { return writing_; }  // the peer has not taken all of the output
  // Session::on_written will be called once all output is written, even if the peer is not slow.
  void tell_when_written() { tells_written_ = true; }
  // The session holds so many bytes more behind the output of a slow peer.
  void queued(size_t bytes) { loop_->slow_readers().grown(slow_, bytes); }

  // Closes when all output is written, and the peer has had a while to take it.
  void end();
  bool ending() const { return ending_; }
  void close();
  bool closed() const { return closed_; }
  // Counts the peer as a slow reader, and closes.
  void on_too_slow();

  // Goes on after Next::wait.
  void resume();
  // Memory for an input, or for what the session makes of it, of so many bytes in all. False: it
  // will be there later; return Next::wait. If it is not there in time, on_deadline is told.
  bool reserve(size_t bytes);
  bool waits_for_memory() const { return memory_wanted_ > 0; }
  // The message is done with: gives the memory back, unless the input needs it still.
  void release_memory();

  // The session is replaced as soon as it returns, with what is left of the input.
  void take_over(std::unique_ptr<Session> next) { next_session_ = std::move(next); }

  const std::string& peer() const { return peer_; }
  std::string local() const { return transport_.local_name(); }  // what the peer has dialled
  bool tls() const { return transport_.tls(); }
  bool idle() const { return waiting_ == Waiting::idle; }  // nothing of a message has come
  bool has_unread() const { return transport_.has_unread(); }
  bool stopping() const { return loop_->stopping(); }
  SteadyTime now() const { return loop_->now(); }
  std::string_view date_line() { return loop_->date_line(); }
  const ListenerLimits& limits() const { return listener_.spec.limits; }
  LoopCounters& counters() { return counters_; }

  // ---- From any thread

  bool on_loop_thread() const { return loop_->on_thread(); }
  // Whether the peer has closed its side, so that nobody may want an answer.
  bool peer_gone() const { return gone_.load(std::memory_order_relaxed); }
  // Runs `work` on the loop's thread, unless the stream is closed by then. False: there was no
  // memory for it.
  template <class Work>
  bool post(Work work) noexcept;
  // Session::on_notified will be called, unless the stream is closed by then. Takes no memory.
  void notify() noexcept;

  // ---- For the loop

  void start();
  void on_events(uint32_t events) override;
  void on_turn_end();   // after EventLoop::write_later
  void on_next_turn();  // after EventLoop::go_on_later
  void on_failure() noexcept override;
  void on_notified() noexcept;
  void on_tick(SteadyTime now);
  void on_stopping();
  bool refused() const { return refused_; }
  ListenerState& listener() { return listener_; }

 private:
  friend class EventLoop;

  void on_first_byte();
  void begin_tls();
  void shake_hands();

  // Goes as far as it can: gives bytes to the session, writes, reads, until there is something to
  // wait for.
  void pump();
  bool must_flush() const;
  bool write_later();
  void pause(const Next& next);
  void tell_written();
  bool fill(const Next& next);  // false: nothing came, or the stream is over
  void note_read(const Next& next, size_t bytes);
  void replace_session();
  void on_memory();

  bool flush();  // true: all written; false: goes on later, or the stream is over
  void on_writable();

  void linger();
  void drain();
  void wait(Waiting what, std::chrono::milliseconds limit);
  void wait_until(Waiting what, SteadyTime deadline);

  std::shared_ptr<EventLoop> loop_;
  ListenerState& listener_;
  LoopCounters& counters_;
  Transport transport_;
  std::list<std::shared_ptr<Stream>>::iterator place_;
  std::string peer_;

  InputBuffer input_;
  Pace input_pace_;
  BufferBudget::Reservation reservation_;  // for input_ or what is made of it, beyond what is free

  size_t memory_wanted_ = 0;  // what reservation_ is in the queue for, or 0

  OutputBuffer output_;
  Pace output_pace_;         // while writing_
  SlowReaders::Place slow_;  // while writing_

  std::unique_ptr<Session> session_;
  std::unique_ptr<Session> next_session_;
  // Kept until the end: the call that led to the take-over may still be on its way back through it.
  std::vector<std::unique_ptr<Session>> former_sessions_;

  size_t turn_messages_ = 0;  // done since pump() was called
  size_t turn_bytes_ = 0;
  SteadyTime deadline_;
  size_t drained_bytes_ = 0;
  Waiting waiting_ = Waiting::nothing;
  const bool refused_;
  bool in_session_ = false;  // the session is being called, and looked after when it returns
  bool paused_ = false;      // Next::wait
  bool reserved_ = false;    // all that the message will need
  bool pacing_ = false;      // input_pace_ runs
  bool settling_ = true;     // not known yet whether it is TLS, or shaking hands
  bool writing_ = false;
  bool tells_written_ = false;
  bool writes_later_ = false;  // at the end of this turn
  bool yielded_ = false;       // goes on in the next turn
  bool ending_ = false;
  bool lingering_ = false;
  bool closed_ = false;
  std::atomic<bool> gone_{false};
  std::atomic<bool> notified_{false};
};

template <class Work>
bool Stream::post(Work work) noexcept {
  // Dropped if the loop has finished: then the stream is closed and nobody waits for it.
  return survive("what was posted to a stream", [&] {
    loop_->post([self = shared_from_this(), late = std::move(work)]() mutable {
      if (self->closed_) return;
      if (!survive("what was posted to a stream", [&] { late(); })) self->on_failure();
    });
  });
}

}  // namespace orrery::net
