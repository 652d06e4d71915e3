// Binding and accepting: see listener.h. When the process runs out of descriptors, accepting waits
// a little instead of spinning.
#include "net/listener.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>

#include "base/fault.h"
#include "base/log.h"
#include "base/survive.h"

namespace orrery::net {
namespace {

constexpr std::chrono::milliseconds kPause{100};
constexpr int kBacklog = 4096;  // the kernel takes less where it is set so
constexpr int kAcceptsPerTurn = 256;

struct Address {
  sockaddr_storage bytes{};
  socklen_t size = 0;
};

std::optional<Address> parse_address(const std::string& text, uint16_t port) {
  Address address;
  auto* four = reinterpret_cast<sockaddr_in*>(&address.bytes);
  if (::inet_pton(AF_INET, text.c_str(), &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(port);
    address.size = sizeof *four;
    return address;
  }
  auto* six = reinterpret_cast<sockaddr_in6*>(&address.bytes);
  if (::inet_pton(AF_INET6, text.c_str(), &six->sin6_addr) == 1) {
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(port);
    address.size = sizeof *six;
    return address;
  }
  return std::nullopt;
}

uint16_t bound_port(int fd) {
  Address address;
  address.size = sizeof address.bytes;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address.bytes), &address.size) != 0) return 0;
  return ntohs(address.bytes.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6*>(&address.bytes)->sin6_port
                   : reinterpret_cast<const sockaddr_in*>(&address.bytes)->sin_port);
}

}  // namespace

Listener::Listener(std::vector<std::shared_ptr<EventLoop>> loops,
                   std::shared_ptr<ServerState> server, ListenerState& state)
    : loops_(std::move(loops)), server_(std::move(server)), state_(state) {}

Status Listener::open() {
  const ListenerSpec& spec = state_.spec;
  const auto address = parse_address(spec.address, spec.port);
  if (!address) {
    return fail(Code::invalid,
                fmt::format("`{}` is not an IP address to listen on: give one such as 127.0.0.1, "
                            "0.0.0.0 or ::",
                            spec.address));
  }
  const int on = 1;
  fd_ = FileDescriptor(
      ::socket(address->bytes.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd_ || ::setsockopt(fd_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address->bytes), address->size) != 0 ||
      ::listen(fd_.get(), kBacklog) != 0) {
    const int error = errno;
    fd_.reset();
    switch (error) {
      case EADDRINUSE:
        return fail(Code::conflict, fmt::format("port {} is in use: another server? choose with {}",
                                                spec.port, spec.port_option));
      case EACCES:
        return fail(Code::forbidden,
                    fmt::format("port {} needs rights that this process does not have: choose one "
                                "above 1023 with {}",
                                spec.port, spec.port_option));
      default:
        return fail(Code::invalid, fmt::format("cannot listen on {} port {}: {}", spec.address,
                                               spec.port, std::system_category().message(error)));
    }
  }
  port_ = bound_port(fd_.get());
  return loops_.front()->watch(fd_.get(), *this);
}

void Listener::on_events(uint32_t) {
  switch (take_waiting()) {
    case Taken::all:
      return;
    case Taken::some:  // the loop's own connections come first
      return go_on_after(std::chrono::milliseconds(0));
    case Taken::out_of_resources:
      return pause();
  }
}

Listener::Taken Listener::take_waiting() {
  for (int taken = 0; taken < kAcceptsPerTurn; ++taken) {
    FileDescriptor fd(::accept4(fd_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd && !fault::point("net.accept")) {
      fd.reset();
      errno = EMFILE;
    }
    if (!fd) {
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
    const bool refused = !admit();
    if (refused) {
      const uint64_t refusals = server_->refusals_open.fetch_add(1, std::memory_order_relaxed);
      if (refusals >= Server::kRefusalsOpenMax) {
        server_->ended(state_, refused);
        continue;
      }
    }
    const std::shared_ptr<EventLoop>& loop = loops_[next_loop_++ % loops_.size()];
    bool posted = false;
    survive("handing a connection over", [&] {
      posted = loop->post([loop, this_state = &state_, fd = std::move(fd), refused]() mutable {
        loop->adopt(std::move(fd), *this_state, refused);
      });
    });
    if (!posted) server_->ended(state_, refused);
  }
  return Taken::some;
}

// Counts a connection, unless there are as many as this listener or the server may have.
bool Listener::admit() {
  const uint64_t open = state_.connections_open.fetch_add(1, std::memory_order_relaxed);
  const uint64_t open_in_all = server_->connections_open.fetch_add(1, std::memory_order_relaxed);
  if (open < state_.spec.limits.connections_max && open_in_all < server_->options.connections_max) {
    state_.connections_accepted.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  server_->ended(state_, false);
  state_.connections_refused.fetch_add(1, std::memory_order_relaxed);
  return false;
}

// What waits to be accepted is told of once: it must not be forgotten.
void Listener::on_failure() noexcept {
  persist("accepting connections", [&] { pause(); });
}

// Out of descriptors nothing tells when one is free again: it is tried after a while.
void Listener::pause() {
  const uint64_t pauses = server_->accept_pauses.fetch_add(1, std::memory_order_relaxed);
  if (pauses == 0) {
    log::error("accepting connections pauses: raise the limit of open files (ulimit -n)",
               {{"error", ::strerrordesc_np(errno)}});
  }
  go_on_after(kPause);
}

void Listener::go_on_after(std::chrono::milliseconds delay) {
  loops_.front()->after(delay, [this] {
    if (fd_) on_events(0);
  });
}

void Listener::close() {
  if (!fd_) return;
  for (int turn = 0; turn * kAcceptsPerTurn < kBacklog && take_waiting() == Taken::some; ++turn) {
  }
  fd_.reset();
}

}  // namespace orrery::net
