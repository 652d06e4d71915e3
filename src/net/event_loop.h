// One event loop: an io_context run by one thread, the connections that belong to it, one coarse
// timer for all their time limits, and what they share (options, handler, TLS context, counters).
//
// Threading: everything here is for the loop's own thread, but for post(), counters and
// on_thread(). Sockets are touched by the loop's thread alone, which lets Asio leave out its
// per-socket locks.
//
// Lifetime: connections hold their loop, because a Responder kept by another thread may outlive the
// server; the loop holds its connections until they close. finish() breaks that circle.
#pragma once

#include <atomic>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <ctime>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "net/http.h"
#include "net/server.h"

namespace orrery::net {

namespace asio = boost::asio;

using Socket = asio::basic_stream_socket<asio::ip::tcp, asio::io_context::executor_type>;
using SteadyTime = std::chrono::steady_clock::time_point;

class Connection;

// What all loops of one server share. Immutable but for the counts.
struct ServerShared {
  ServerOptions options;
  Handler* handler = nullptr;
  std::shared_ptr<asio::ssl::context> tls;  // null: no certificate was given
  std::atomic<uint64_t> connections_open{0};
  std::atomic<uint64_t> connections_accepted{0};
  std::atomic<uint64_t> connections_refused{0};
  std::atomic<uint64_t> accept_pauses{0};
};

// Counted by one thread each, so that threads do not share a cache line for every request.
struct alignas(64) LoopCounters {
  std::atomic<uint64_t> requests{0};
  std::atomic<uint64_t> bad_requests{0};
  std::atomic<uint64_t> tls_failures{0};

  static void count(std::atomic<uint64_t>& counter) {
    counter.fetch_add(1, std::memory_order_relaxed);
  }
};

class EventLoop : public std::enable_shared_from_this<EventLoop> {
 public:
  explicit EventLoop(std::shared_ptr<ServerShared> shared);
  ~EventLoop();

  // The thread's body: returns after finish(), when nothing is left to run.
  void run();

  // From any thread. False, and `work` is dropped, if the loop has finished.
  template <class Work>
  bool post(Work&& work) {
    const std::lock_guard lock(mutex_);
    if (finished_) return false;
    asio::post(context_.get_executor(), std::forward<Work>(work));
    return true;
  }
  bool on_thread() const {
    return std::this_thread::get_id() == thread_id_.load(std::memory_order_relaxed);
  }
  LoopCounters& counters() { return counters_; }

  // The rest: on the loop's thread.
  asio::io_context& context() { return context_; }
  ServerShared& shared() { return *shared_; }
  const ServerOptions& options() const { return shared_->options; }
  bool stopping() const { return stopping_; }
  std::string_view date_line();

  void adopt(int fd, const asio::ip::tcp& protocol, bool refused);
  void remove(Connection& connection);

  void begin_stop();  // closes what is idle, and finishes when the last connection has closed
  void close_all();   // closes the rest

  // True once: so that refusing TLS is logged, but not for every connection.
  bool first_tls_refusal() { return !std::exchange(tls_refusal_logged_, true); }

 private:
  friend class Connection;

  void finish();
  void arm_timer();
  void tick();

  std::shared_ptr<ServerShared> shared_;
  asio::io_context context_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  asio::basic_waitable_timer<std::chrono::steady_clock,
                             asio::wait_traits<std::chrono::steady_clock>,
                             asio::io_context::executor_type>
      timer_;
  std::chrono::milliseconds tick_interval_;
  bool timer_armed_ = false;
  bool stopping_ = false;
  bool tls_refusal_logged_ = false;
  uint32_t refused_open_ = 0;
  std::list<std::shared_ptr<Connection>> connections_;
  std::time_t date_second_ = 0;
  std::string date_line_;
  std::atomic<std::thread::id> thread_id_;
  LoopCounters counters_;

  std::mutex mutex_;
  bool finished_ = false;  // under mutex_
};

}  // namespace orrery::net
