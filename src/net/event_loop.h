// One event loop: an epoll descriptor waited on by one thread, the connections that belong to it,
// one coarse timer for all their time limits, and what they share (options, handler, TLS context,
// counters).
//
// A turn of the loop is: wait; tell each watcher of its events; let those go on that had more to do
// than a connection may in one turn; let connections write the answers that all this led to; run
// what was posted; look at the time limits and at what slow readers hold. (Answers that are written
// together wake their reader once, where it would otherwise run and sleep for each of them.)
// Descriptors are registered once, edge-triggered, for reading and writing: a request costs no call
// but those that move its bytes. A watcher may end itself during its own events, and no other
// one's; whatever ends others is posted.
//
// Threading: everything here is for the loop's own thread, but for post(), counters and
// on_thread().
//
// Lifetime: connections hold their loop, because a Responder kept by another thread may outlive the
// server; the loop holds its connections until they close. finish() breaks that circle.
#pragma once

#include <openssl/types.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/result.h"
#include "net/buffer_budget.h"
#include "net/descriptor.h"
#include "net/http.h"
#include "net/server.h"
#include "net/slow_readers.h"

namespace orrery::net {

using SteadyTime = std::chrono::steady_clock::time_point;

class Connection;

// What all loops of one server share. Immutable but for the counts and budgets.
struct ServerShared {
  ServerShared(ServerOptions options_in, Handler& handler_in)
      : options(std::move(options_in)),
        handler(&handler_in),
        heads(options.request_buffer_bytes / 4),
        bodies(options.request_buffer_bytes - options.request_buffer_bytes / 4) {}

  const ServerOptions options;  // with the number of threads
  Handler* const handler;
  std::shared_ptr<SSL_CTX> tls;  // null: no certificate was given
  // Two, because nobody has said yet who sent a head: those who send many large ones wait for one
  // another, and not the bodies of clients that are known.
  BufferBudget heads;
  BufferBudget bodies;
  std::atomic<uint64_t> connections_open{0};  // without those over the limit that are being told so
  std::atomic<uint64_t> refusals_open{0};     // these
  std::atomic<uint64_t> connections_accepted{0};
  std::atomic<uint64_t> connections_refused{0};
  std::atomic<uint64_t> accept_pauses{0};

  void ended(bool refused) {
    (refused ? refusals_open : connections_open).fetch_sub(1, std::memory_order_relaxed);
  }
};

// Counted by one thread each, so that threads do not share a cache line for every request.
struct alignas(64) LoopCounters {
  std::atomic<uint64_t> requests{0};
  std::atomic<uint64_t> bad_requests{0};
  std::atomic<uint64_t> tls_failures{0};
  std::atomic<uint64_t> failures{0};  // exceptions, each of which ended a connection
  std::atomic<uint64_t> slow_readers{0};

  static void count(std::atomic<uint64_t>& counter) {
    counter.fetch_add(1, std::memory_order_relaxed);
  }
};

// Is told what happens to a descriptor: epoll's event bits.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void on_events(uint32_t events) = 0;
  // It threw.
  virtual void on_failure() noexcept = 0;
};

class EventLoop : public std::enable_shared_from_this<EventLoop> {
 public:
  static Result<std::shared_ptr<EventLoop>> create(std::shared_ptr<ServerShared> shared);
  ~EventLoop();

  // The thread's body: returns after finish(), when nothing is left to run.
  void run();

  // From any thread. False, and `work` is dropped, if the loop has finished.
  bool post(std::move_only_function<void()> work);
  // From any thread: some connection was abandoned. Takes no memory.
  void look_for_abandoned() noexcept;
  bool on_thread() const {
    return std::this_thread::get_id() == thread_id_.load(std::memory_order_relaxed);
  }
  LoopCounters& counters() { return counters_; }

  // The rest: on the loop's thread, or before it runs.
  ServerShared& shared() { return *shared_; }
  const ServerOptions& options() const { return shared_->options; }
  bool stopping() const { return stopping_; }
  // As of this turn: exact enough for time limits.
  SteadyTime now() const { return now_; }
  std::string_view date_line();

  // The watcher stays in place until its descriptor is closed, which ends the watching.
  Status watch(int fd, Watcher& watcher);
  // Runs `work` once, when the time has come; one at a time, for the listener.
  void after(std::chrono::milliseconds delay, std::move_only_function<void()> work);

  // True while watchers are told of events: the connection is then asked to write at their end.
  bool write_later(const std::shared_ptr<Connection>& connection);
  // The connection goes on in the next turn, after all that have events by then.
  void go_on_later(const std::shared_ptr<Connection>& connection);
  SlowReaders& slow_readers() { return slow_readers_; }

  void adopt(Descriptor fd, bool refused);
  void remove(Connection& connection);

  void begin_stop();  // closes what is idle, and finishes when the last connection has closed
  void close_all();   // closes the rest

  // True once: so that refusing TLS is logged, but not for every connection.
  bool first_tls_refusal() { return !std::exchange(tls_refusal_logged_, true); }

 private:
  struct Delayed {
    SteadyTime due;
    std::move_only_function<void()> work;
  };

  EventLoop(std::shared_ptr<ServerShared> shared, Descriptor poll, Descriptor wake);

  void finish();
  int wait_limit_ms() const;
  void wake() noexcept;
  void finish_abandoned() noexcept;
  void run_posted();
  void run_due();
  void tick();
  void close_slow_readers();

  std::shared_ptr<ServerShared> shared_;
  Descriptor poll_;
  Descriptor wake_;  // an eventfd: written when something is posted to a loop that may be waiting
  SteadyTime now_;
  SteadyTime next_tick_;
  std::chrono::milliseconds tick_interval_;
  std::optional<Delayed> delayed_;
  bool telling_ = false;
  std::vector<std::shared_ptr<Connection>> writers_;  // of this turn
  std::vector<std::shared_ptr<Connection>> yielded_;  // for the next turn
  SlowReaders slow_readers_;
  bool stopping_ = false;
  bool tls_refusal_logged_ = false;
  std::list<std::shared_ptr<Connection>> connections_;
  std::time_t date_second_ = 0;
  std::string date_line_;
  std::atomic<std::thread::id> thread_id_;
  std::atomic<bool> abandoned_{false};
  LoopCounters counters_;

  std::mutex mutex_;
  std::vector<std::move_only_function<void()>> posted_;  // under mutex_
  bool finished_ = false;                                // under mutex_
};

}  // namespace orrery::net
