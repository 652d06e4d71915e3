// One client connection: reads requests, gives them to the handler one at a time, writes the
// responses in order.
//
// It alternates: read until a request is complete; hand it over; take the response; parse the next
// from what was already read; when there is none, write all responses gathered so far at once; read
// again. While a response is unsent or being prepared nothing is read or parsed, so a client that
// does not take its answers is the only one to wait for them, and memory stays bounded.
//
// Before more than InputBuffer::kFreeBytes are kept of a request, its memory is reserved; before
// that of a body is, the handler may refuse the request by its head. What one turn of the loop does
// for a connection is bounded: one that always has more to do goes on in the next turn. An
// exception on the way (memory ran out) ends the connection and nothing else.
//
// Threading: the loop's thread, but for send() and abandon(). While closed_ is false the loop holds
// the connection; closing happens on the loop's thread, so destruction elsewhere (by a late
// Responder) finds the socket closed already.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "net/event_loop.h"
#include "net/http.h"
#include "net/input_buffer.h"
#include "net/output_buffer.h"
#include "net/pace.h"
#include "net/parser.h"
#include "net/transport.h"

namespace orrery::net {

class Connection final : public ResponseSink,
                         public Watcher,
                         public std::enable_shared_from_this<Connection> {
 public:
  // `refused`: over the connection limit; is told so and closed.
  Connection(std::shared_ptr<EventLoop> loop, Descriptor fd, bool refused);

  void start();
  void on_events(uint32_t events) override;
  void on_turn_end();   // after EventLoop::write_later
  void on_next_turn();  // after EventLoop::go_on_later
  void on_too_slow();   // the loop has no memory for its answers any more
  void on_failure() noexcept override;
  void send(Response&& response) noexcept override;  // any thread
  void abandon() noexcept override;                  // any thread
  // On the loop's thread, after abandon(): answers 500, or closes when there is no memory for it.
  void finish_abandoned() noexcept;
  bool is_gone() const override { return gone_.load(std::memory_order_relaxed); }
  void close();
  void on_tick(SteadyTime now);
  void on_stopping();
  bool refused() const { return refused_; }

 private:
  friend class EventLoop;

  // What the time limit in deadline_ is for.
  enum class Waiting : uint8_t { nothing, idle, handshake, header, memory, body, write, linger };

  void on_first_byte();
  void shake_hands();

  // Goes as far as it can: parses, hands over, writes, reads, until there is something to wait for.
  void process();
  bool fill();        // false: nothing came, or the connection is over
  bool admit_body();  // false: it waits for memory, or the request was refused
  bool refused_by_head();
  void on_memory();
  bool dispatch();  // false: the response will come later
  void next_request();
  // `headers`: more of them, as complete lines.
  void reject(int status, std::string_view message, std::string_view headers = {});

  void append_response(Response& response);
  void take_response(Response&& response);

  bool flush();  // true: all written; false: goes on later, or the connection is over
  void on_writable();

  void linger();
  void drain();
  void wait(Waiting what, std::chrono::milliseconds limit);
  void wait_until(Waiting what, SteadyTime deadline);

  std::shared_ptr<EventLoop> loop_;
  Transport transport_;
  std::list<std::shared_ptr<Connection>>::iterator place_;
  std::string peer_;

  InputBuffer input_;
  RequestParser parser_;
  Request request_;

  BufferBudget::Reservation reservation_;  // for input_, beyond what is free

  // How far the request is whose body is being read.
  struct BodyProgress {
    bool head_passed = false;  // the handler has not refused it
    bool admitted = false;     // its memory is reserved
    bool told_to_continue = false;
    bool begun = false;  // pace runs
    Pace pace;
  } body_;

  OutputBuffer output_;
  Pace output_pace_;                          // while writing_
  SlowReaders::Place slow_;                   // while writing_
  std::optional<Response> waiting_response_;  // came while earlier ones were still being written

  size_t turn_requests_ = 0;  // done since process() was called
  size_t turn_bytes_ = 0;
  SteadyTime deadline_;
  size_t drained_bytes_ = 0;
  Waiting waiting_ = Waiting::nothing;
  bool refused_;
  bool in_handler_ = false;
  bool awaiting_response_ = false;  // a request is with the handler
  bool first_byte_ = false;         // nothing has come yet
  bool writing_ = false;            // the peer has not taken all of output_
  bool yielded_ = false;            // goes on in the next turn
  bool close_after_flush_ = false;
  bool lingering_ = false;
  bool closed_ = false;
  std::atomic<bool> gone_{false};       // the client has closed its side
  std::atomic<bool> abandoned_{false};  // the handler gave no answer
};

}  // namespace orrery::net
