// Running, stopping and sweeping a loop: one timer looks at every connection's deadline, so that a
// request sets no timer of its own. See event_loop.h.
#include "net/event_loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

#include "base/fault.h"
#include "base/survive.h"
#include "net/connection.h"
#include "net/response_head.h"

namespace orrery::net {
namespace {

constexpr size_t kEventsMax = 128;  // of one turn

// A limit is kept to within a quarter of the shortest one, and never looked at more than 100 times
// a second.
std::chrono::milliseconds tick_interval(const ServerOptions& options) {
  const auto shortest =
      std::min({options.header_timeout, options.body_timeout, options.idle_timeout,
                options.write_timeout, options.buffer_timeout});
  return std::clamp(shortest / 4, std::chrono::milliseconds(10), std::chrono::milliseconds(1000));
}

// OpenSSL writes to sockets in a way that signals when the peer has gone; what it returns says the
// same. A signal that is blocked is not delivered.
void block_broken_pipe_signal() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

}  // namespace

Result<std::shared_ptr<EventLoop>> EventLoop::create(std::shared_ptr<ServerShared> shared) {
  Descriptor poll(::epoll_create1(EPOLL_CLOEXEC));
  Descriptor wake(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;
  if (!poll || !wake || ::epoll_ctl(poll.get(), EPOLL_CTL_ADD, wake.get(), &event) != 0) {
    return fail(Code::overloaded,
                std::string("cannot make an event loop: ") + std::system_category().message(errno));
  }
  return std::shared_ptr<EventLoop>(
      new EventLoop(std::move(shared), std::move(poll), std::move(wake)));
}

EventLoop::EventLoop(std::shared_ptr<ServerShared> shared, Descriptor poll, Descriptor wake)
    : shared_(std::move(shared)),
      poll_(std::move(poll)),
      wake_(std::move(wake)),
      now_(std::chrono::steady_clock::now()),
      tick_interval_(tick_interval(shared_->options)),
      slow_readers_(shared_->options.response_buffer_bytes / shared_->options.threads) {}

EventLoop::~EventLoop() = default;

Status EventLoop::watch(int fd, Watcher& watcher) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.ptr = &watcher;
  if (::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, fd, &event) == 0) return {};
  return fail(Code::overloaded,
              std::string("cannot watch a socket: ") + std::system_category().message(errno));
}

void EventLoop::run() {
  thread_id_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  block_broken_pipe_signal();
  std::array<epoll_event, kEventsMax> events;
  std::vector<std::shared_ptr<Connection>> going_on;
  for (;;) {
    const int ready =
        ::epoll_wait(poll_.get(), events.data(), static_cast<int>(events.size()), wait_limit_ms());
    now_ = std::chrono::steady_clock::now();
    bool woken = false;
    telling_ = true;
    for (int i = 0; i < ready; ++i) {
      const epoll_event& event = events[static_cast<size_t>(i)];
      if (event.data.ptr == nullptr) {
        woken = true;
      } else {
        auto* watcher = static_cast<Watcher*>(event.data.ptr);
        const bool told = survive("a socket's events", [&] {
          static_cast<void>(fault::point("loop.events"));
          watcher->on_events(event.events);
        });
        if (!told) watcher->on_failure();
      }
    }
    going_on.swap(yielded_);
    for (const std::shared_ptr<Connection>& connection : going_on) {
      if (!survive("a connection's next turn", [&] { connection->on_next_turn(); })) {
        connection->on_failure();
      }
    }
    going_on.clear();
    telling_ = false;
    for (const std::shared_ptr<Connection>& writer : writers_) {
      if (!survive("writing answers", [&] { writer->on_turn_end(); })) writer->on_failure();
    }
    writers_.clear();
    if (woken) {
      run_posted();
      finish_abandoned();
    }
    survive("time limits", [&] {
      run_due();
      close_slow_readers();
    });
    const std::lock_guard lock(mutex_);
    if (finished_ && posted_.empty()) break;
  }
  yielded_.clear();  // closed, and would hold this loop
}

void EventLoop::go_on_later(const std::shared_ptr<Connection>& connection) {
  yielded_.push_back(connection);
}

bool EventLoop::write_later(const std::shared_ptr<Connection>& connection) {
  if (telling_) writers_.push_back(connection);
  return telling_;
}

int EventLoop::wait_limit_ms() const {
  if (!yielded_.empty()) return 0;
  std::optional<SteadyTime> due;
  if (!connections_.empty()) due = next_tick_;
  if (delayed_) due = due ? std::min(*due, delayed_->due) : delayed_->due;
  if (!due) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*due - now_).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 60'000));
}

bool EventLoop::post(std::move_only_function<void()> work) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    if (finished_) return false;
    first = posted_.empty();
    posted_.push_back(std::move(work));
  }
  if (first) wake();
  return true;
}

void EventLoop::wake() noexcept {
  const uint64_t one = 1;
  // It fails only when the count is full, and then the loop is awake.
  [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
}

void EventLoop::look_for_abandoned() noexcept {
  abandoned_.store(true);
  wake();
}

void EventLoop::finish_abandoned() noexcept {
  if (!abandoned_.exchange(false)) return;
  for (auto next = connections_.begin(); next != connections_.end();) {
    // Held, and stepped over first, because it may close and leave the list.
    const std::shared_ptr<Connection> connection = *next++;
    connection->finish_abandoned();
  }
}

void EventLoop::run_posted() {
  std::vector<std::move_only_function<void()>> work;
  {
    const std::lock_guard lock(mutex_);
    work.swap(posted_);
  }
  for (auto& one : work) survive("what was posted to an event loop", [&] { one(); });
}

void EventLoop::after(std::chrono::milliseconds delay, std::move_only_function<void()> work) {
  delayed_.emplace(now_ + delay, std::move(work));
}

void EventLoop::run_due() {
  if (delayed_ && now_ >= delayed_->due) {
    auto work = std::move(delayed_->work);
    delayed_.reset();
    work();
  }
  if (now_ < next_tick_) return;
  next_tick_ = now_ + tick_interval_;
  tick();
}

std::string_view EventLoop::date_line() {
  const std::time_t now = std::time(nullptr);
  if (now != date_second_) {
    date_second_ = now;
    date_line_ = net::date_line(now);
  }
  return date_line_;
}

void EventLoop::adopt(Descriptor fd, bool refused) {
  if (stopping_) return shared_->ended(refused);
  if (connections_.empty()) next_tick_ = now_ + tick_interval_;
  std::shared_ptr<Connection> connection;
  const bool taken = survive("taking a connection", [&] {
    connection = std::make_shared<Connection>(shared_from_this(), std::move(fd), refused);
    connections_.push_front(connection);
  });
  if (!taken) return shared_->ended(refused);
  connection->place_ = connections_.begin();
  if (!survive("taking a connection", [&] { connection->start(); })) connection->on_failure();
}

void EventLoop::remove(Connection& connection) {
  shared_->ended(connection.refused());
  connections_.erase(connection.place_);
  if (stopping_ && connections_.empty()) finish();
}

void EventLoop::tick() {
  for (auto next = connections_.begin(); next != connections_.end();) {
    // Held, and stepped over first, because it may close and leave the list.
    const std::shared_ptr<Connection> connection = *next++;
    if (!survive("a time limit", [&] { connection->on_tick(now_); })) connection->on_failure();
  }
}

void EventLoop::close_slow_readers() {
  while (Connection* slowest = slow_readers_.excess()) slowest->on_too_slow();
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
  const std::lock_guard lock(mutex_);
  finished_ = true;
  delayed_.reset();
}

}  // namespace orrery::net
