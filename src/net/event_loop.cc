// Running, stopping and sweeping a loop: one timer looks at every connection's deadline, so that a
// request sets no timer of its own. See event_loop.h.
#include "net/event_loop.h"

#include <unistd.h>

#include <algorithm>

#include "net/connection.h"
#include "net/response_head.h"

namespace orrery::net {
namespace {

// Connections over the limit that are being told so. Beyond this they are closed without a word.
constexpr uint32_t kRefusedOpenMax = 64;

// A limit is kept to within a quarter of the shortest one, and never looked at more than 100 times
// a second.
std::chrono::milliseconds tick_interval(const ServerOptions& options) {
  const auto shortest = std::min(
      {options.header_timeout, options.body_timeout, options.idle_timeout, options.write_timeout});
  return std::clamp(shortest / 4, std::chrono::milliseconds(10), std::chrono::milliseconds(1000));
}

}  // namespace

EventLoop::EventLoop(std::shared_ptr<ServerShared> shared)
    : shared_(std::move(shared)),
      context_(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO),
      work_(context_.get_executor()),
      timer_(context_),
      tick_interval_(tick_interval(shared_->options)) {}

EventLoop::~EventLoop() = default;

void EventLoop::run() {
  thread_id_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  context_.run();
}

std::string_view EventLoop::date_line() {
  const std::time_t now = std::time(nullptr);
  if (now != date_second_) {
    date_second_ = now;
    date_line_ = net::date_line(now);
  }
  return date_line_;
}

void EventLoop::adopt(int fd, const asio::ip::tcp& protocol, bool refused) {
  Socket socket(context_);
  boost::system::error_code failed;
  socket.assign(protocol, fd, failed);
  if (failed || stopping_ || (refused && refused_open_ >= kRefusedOpenMax)) {
    if (failed) ::close(fd);
    if (!refused) shared_->connections_open.fetch_sub(1, std::memory_order_relaxed);
    return;
  }
  auto connection = std::make_shared<Connection>(shared_from_this(), std::move(socket), refused);
  connections_.push_front(connection);
  connection->place_ = connections_.begin();
  if (refused) ++refused_open_;
  connection->start();
  arm_timer();
}

void EventLoop::remove(Connection& connection) {
  if (connection.refused()) {
    --refused_open_;
  } else {
    shared_->connections_open.fetch_sub(1, std::memory_order_relaxed);
  }
  connections_.erase(connection.place_);
  if (stopping_ && connections_.empty()) finish();
}

void EventLoop::arm_timer() {
  if (timer_armed_ || connections_.empty()) return;
  timer_armed_ = true;
  timer_.expires_after(tick_interval_);
  timer_.async_wait([this](const boost::system::error_code& failed) {
    timer_armed_ = false;
    if (failed) return;
    tick();
    arm_timer();
  });
}

void EventLoop::tick() {
  const SteadyTime now = std::chrono::steady_clock::now();
  for (auto next = connections_.begin(); next != connections_.end();) {
    // Held, and stepped over first, because it may close and leave the list.
    const std::shared_ptr<Connection> connection = *next++;
    connection->on_tick(now);
  }
}

void EventLoop::begin_stop() {
  stopping_ = true;
  for (auto next = connections_.begin(); next != connections_.end();) {
    const std::shared_ptr<Connection> connection = *next++;
    connection->on_stopping();
  }
  if (connections_.empty()) finish();
}

void EventLoop::close_all() {
  stopping_ = true;
  while (!connections_.empty()) {
    const std::shared_ptr<Connection> connection = connections_.front();
    connection->close();
  }
  finish();
}

void EventLoop::finish() {
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
  }
  timer_.cancel();
  work_.reset();
}

}  // namespace orrery::net
