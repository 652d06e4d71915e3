// Running, stopping and sweeping a loop: one timer looks at every stream's deadline, so that a
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
#include "net/response_head.h"
#include "net/stream.h"

namespace orrery::net {
namespace {

constexpr size_t kEventsMax = 128;  // of one turn

// A limit is kept to within a quarter of the shortest one, and never looked at more than 100 times
// a second.
std::chrono::milliseconds tick_interval(const ServerState& server) {
  auto shortest = std::chrono::milliseconds(4'000);
  for (const std::unique_ptr<ListenerState>& listener : server.listeners) {
    const ListenerLimits& limits = listener->spec.limits;
    shortest = std::min({shortest, limits.head_timeout, limits.body_timeout, limits.idle_timeout,
                         limits.write_timeout, limits.buffer_timeout});
  }
  return std::max(shortest / 4, std::chrono::milliseconds(10));
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

Result<std::shared_ptr<EventLoop>> EventLoop::create(std::shared_ptr<ServerState> server,
                                                     size_t number) {
  FileDescriptor poll(::epoll_create1(EPOLL_CLOEXEC));
  FileDescriptor wake(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;
  if (!poll || !wake || ::epoll_ctl(poll.get(), EPOLL_CTL_ADD, wake.get(), &event) != 0) {
    return fail(Code::overloaded,
                std::string("cannot make an event loop: ") + std::system_category().message(errno));
  }
  return std::shared_ptr<EventLoop>(
      new EventLoop(std::move(server), number, std::move(poll), std::move(wake)));
}

EventLoop::EventLoop(std::shared_ptr<ServerState> server, size_t number, FileDescriptor poll,
                     FileDescriptor wake)
    : server_(std::move(server)),
      number_(number),
      poll_(std::move(poll)),
      wake_(std::move(wake)),
      now_(std::chrono::steady_clock::now()),
      tick_interval_(0),
      slow_readers_(server_->options.response_buffer_bytes / server_->options.threads) {}

EventLoop::~EventLoop() = default;

Status EventLoop::watch(int fd, Watcher& watcher) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.ptr = &watcher;
  if (::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, fd, &event) == 0) return {};
  return fail(Code::overloaded,
              std::string("cannot watch a socket: ") + std::system_category().message(errno));
}

void EventLoop::begin_on_this_thread() {
  thread_id_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  block_broken_pipe_signal();
  tick_interval_ = tick_interval(*server_);
}

void EventLoop::run() {
  begin_on_this_thread();
  for (;;) {
    turn(wait_limit_ms());
    const std::lock_guard lock(mutex_);
    if (finished_ && posted_.empty()) break;
  }
  yielded_.clear();  // closed, and would hold this loop
}

void EventLoop::turn(int wait_ms) {
  std::array<epoll_event, kEventsMax> events;
  const int ready =
      ::epoll_wait(poll_.get(), events.data(), static_cast<int>(events.size()), wait_ms);
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
  going_on_.swap(yielded_);
  for (const std::shared_ptr<Stream>& stream : going_on_) {
    if (!survive("a stream's next turn", [&] { stream->on_next_turn(); })) stream->on_failure();
  }
  going_on_.clear();
  write_answers();
  if (woken) {
    telling_ = true;
    run_posted();
    write_answers();
    visit_notified();
  }
  survive("time limits", [&] {
    run_due();
    close_slow_readers();
  });
}

void EventLoop::write_answers() {
  telling_ = false;
  for (const std::shared_ptr<Stream>& writer : writers_) {
    if (!survive("writing answers", [&] { writer->on_turn_end(); })) writer->on_failure();
  }
  writers_.clear();
}

void EventLoop::go_on_later(const std::shared_ptr<Stream>& stream) {
  yielded_.push_back(stream);
}

bool EventLoop::write_later(const std::shared_ptr<Stream>& stream) {
  if (telling_) writers_.push_back(stream);
  return telling_;
}

int EventLoop::wait_limit_ms() const {
  if (!yielded_.empty()) return 0;
  std::optional<SteadyTime> due;
  if (!streams_.empty()) due = next_tick_;
  for (const Delayed& one : delayed_) due = due ? std::min(*due, one.due) : one.due;
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

void EventLoop::look_for_notified() noexcept {
  notified_.store(true);
  wake();
}

void EventLoop::visit_notified() noexcept {
  if (!notified_.exchange(false)) return;
  for (auto next = streams_.begin(); next != streams_.end();) {
    // Held, and stepped over first, because it may close and leave the list.
    const std::shared_ptr<Stream> stream = *next++;
    stream->on_notified();
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
  delayed_.emplace_back(now_ + delay, std::move(work));
}

void EventLoop::run_due() {
  // What it runs may ask for more, which is for a later turn.
  for (size_t left = delayed_.size(), at = 0; left > 0; --left) {
    if (now_ < delayed_[at].due) {
      ++at;
      continue;
    }
    auto work = std::move(delayed_[at].work);
    delayed_.erase(delayed_.begin() + static_cast<ptrdiff_t>(at));
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

void EventLoop::adopt(FileDescriptor fd, ListenerState& listener, bool refused) {
  if (stopping_) return server_->ended(listener, refused);
  if (streams_.empty()) next_tick_ = now_ + tick_interval_;
  std::shared_ptr<Stream> stream;
  const bool taken = survive("taking a connection", [&] {
    stream = std::make_shared<Stream>(shared_from_this(), listener, std::move(fd), refused);
    streams_.push_front(stream);
  });
  if (!taken) return server_->ended(listener, refused);
  stream->place_ = streams_.begin();
  if (!survive("taking a connection", [&] { stream->start(); })) stream->on_failure();
}

void EventLoop::remove(Stream& stream) {
  server_->ended(stream.listener(), stream.refused());
  streams_.erase(stream.place_);
  if (stopping_ && streams_.empty()) finish();
}

void EventLoop::tick() {
  for (auto next = streams_.begin(); next != streams_.end();) {
    // Held, and stepped over first, because it may close and leave the list.
    const std::shared_ptr<Stream> stream = *next++;
    if (!survive("a time limit", [&] { stream->on_tick(now_); })) stream->on_failure();
  }
}

void EventLoop::close_slow_readers() {
  while (Stream* slowest = slow_readers_.excess()) slowest->on_too_slow();
}

void EventLoop::begin_stop() {
  stopping_ = true;
  for (auto next = streams_.begin(); next != streams_.end();) {
    const std::shared_ptr<Stream> stream = *next++;
    if (!survive("stopping", [&] { stream->on_stopping(); })) stream->on_failure();
  }
  if (streams_.empty()) finish();
}

void EventLoop::close_all() {
  stopping_ = true;
  while (!streams_.empty()) {
    const std::shared_ptr<Stream> stream = streams_.front();
    stream->close();
  }
  finish();
}

void EventLoop::finish() {
  const std::lock_guard lock(mutex_);
  finished_ = true;
  delayed_.clear();
}

}  // namespace orrery::net
