// Binding and accepting: see listener.h. When the process runs out of descriptors, accepting waits
// a little instead of spinning.
#include "net/listener.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/log.h"

namespace orrery::net {
namespace {

using boost::system::error_code;

constexpr std::chrono::milliseconds kPause{100};

}  // namespace

Listener::Listener(std::vector<std::shared_ptr<EventLoop>> loops,
                   std::shared_ptr<ServerShared> shared)
    : loops_(std::move(loops)),
      shared_(std::move(shared)),
      acceptor_(loops_.front()->context()),
      pause_timer_(loops_.front()->context()) {}

Status Listener::open() {
  const ServerOptions& options = shared_->options;
  error_code failed;
  const auto address = asio::ip::make_address(options.address, failed);
  if (failed) {
    return fail(Code::invalid,
                fmt::format("`{}` is not an IP address to listen on: give one such as 127.0.0.1, "
                            "0.0.0.0 or ::",
                            options.address));
  }
  const asio::ip::tcp::endpoint endpoint(address, options.port);
  protocol_ = endpoint.protocol();
  acceptor_.open(protocol_, failed);
  if (!failed) acceptor_.set_option(asio::socket_base::reuse_address(true), failed);
  if (!failed) acceptor_.non_blocking(true, failed);
  if (!failed) acceptor_.bind(endpoint, failed);
  if (!failed) acceptor_.listen(asio::socket_base::max_listen_connections, failed);
  if (failed == asio::error::address_in_use) {
    return fail(Code::conflict,
                fmt::format("port {} is in use: another server? choose with --port", options.port));
  }
  if (failed == asio::error::access_denied) {
    return fail(Code::forbidden,
                fmt::format("port {} needs rights that this process does not have: choose one "
                            "above 1023 with --port",
                            options.port));
  }
  if (failed) {
    return fail(Code::invalid, fmt::format("cannot listen on {} port {}: {}", options.address,
                                           options.port, failed.message()));
  }
  port_ = acceptor_.local_endpoint(failed).port();
  return {};
}

void Listener::accept_next() {
  acceptor_.async_wait(asio::socket_base::wait_read, [this](const error_code& failed) {
    if (failed || !acceptor_.is_open()) return;
    if (take_waiting() == Taken::out_of_resources) return pause();
    accept_next();
  });
}

Listener::Taken Listener::take_waiting() {
  for (;;) {
    const int fd =
        ::accept4(acceptor_.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
      switch (errno) {
        case EAGAIN:
          return Taken::all;
        case EINTR:
        case ECONNABORTED:  // ended before it was taken
        case EPROTO:
          continue;
        default:  // above all EMFILE; and whatever else there is, never spin on it
          return Taken::out_of_resources;
      }
    }
    const uint64_t open = shared_->connections_open.fetch_add(1, std::memory_order_relaxed);
    const bool refused = open >= shared_->options.connections_max;
    if (refused) {
      shared_->connections_open.fetch_sub(1, std::memory_order_relaxed);
      shared_->connections_refused.fetch_add(1, std::memory_order_relaxed);
    } else {
      shared_->connections_accepted.fetch_add(1, std::memory_order_relaxed);
    }
    const std::shared_ptr<EventLoop>& loop = loops_[next_loop_++ % loops_.size()];
    const bool posted = loop->post(
        [loop, fd, protocol = protocol_, refused] { loop->adopt(fd, protocol, refused); });
    if (!posted) {
      ::close(fd);
      if (!refused) shared_->connections_open.fetch_sub(1, std::memory_order_relaxed);
    }
  }
}

// Out of descriptors the listening socket stays ready, and waiting for it again at once would spin.
void Listener::pause() {
  const uint64_t pauses = shared_->accept_pauses.fetch_add(1, std::memory_order_relaxed);
  if (pauses == 0) {
    log::error("accepting connections pauses: raise the limit of open files (ulimit -n)",
               {{"error", std::strerror(errno)}});
  }
  pause_timer_.expires_after(kPause);
  pause_timer_.async_wait([this](const error_code& failed) {
    if (failed || !acceptor_.is_open()) return;
    accept_next();
  });
}

void Listener::close() {
  if (!acceptor_.is_open()) return;
  take_waiting();
  error_code ignored;
  acceptor_.close(ignored);
  pause_timer_.cancel();
}

}  // namespace orrery::net
