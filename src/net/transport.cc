// See transport.h.
#include "net/transport.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

namespace orrery::net {
namespace {

constexpr size_t kDiscardBytes = 16 * 1024;

Transfer socket_result(ssize_t result) {
  if (result > 0) return {Flow::moved, static_cast<size_t>(result)};
  if (result < 0 && errno == EAGAIN) return {Flow::wait, 0};
  return {Flow::over, 0};
}

int as_int(size_t size) {
  return static_cast<int>(std::min<size_t>(size, INT_MAX));
}

}  // namespace

void Transport::FreeTls::operator()(SSL* tls) const {
  SSL_free(tls);
}

std::string Transport::peer_name() const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getpeername(fd(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return "unknown";
  return address_text(address);
}

std::string Transport::local_name() const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(fd(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return "unknown";
  return address_text(address);
}

std::string Transport::address_text(const sockaddr_storage& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET6) {
    const auto* six = reinterpret_cast<const sockaddr_in6*>(&address);
    ::inet_ntop(AF_INET6, &six->sin6_addr, text.data(), text.size());
    return fmt::format("[{}]:{}", text.data(), ntohs(six->sin6_port));
  }
  const auto* four = reinterpret_cast<const sockaddr_in*>(&address);
  ::inet_ntop(AF_INET, &four->sin_addr, text.data(), text.size());
  return fmt::format("{}:{}", text.data(), ntohs(four->sin_port));
}

void Transport::on_events(uint32_t events) {
  if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) ended_ = true;
  if (ended_ || (events & EPOLLIN) != 0) readable_ = true;
}

Transfer Transport::peek(std::span<unsigned char> first) {
  return socket_result(::recv(fd(), first.data(), first.size(), MSG_PEEK));
}

void Transport::discard_first(size_t bytes_max) {
  // MSG_TRUNC of TCP: the bytes are dropped, not copied.
  (void)::recv(fd(), nullptr, bytes_max, MSG_TRUNC | MSG_DONTWAIT);
}

bool Transport::begin_tls(SSL_CTX* context) {
  ERR_clear_error();
  tls_.reset(SSL_new(context));
  if (!tls_ || SSL_set_fd(tls_.get(), fd()) != 1) return false;
  SSL_set_mode(tls_.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                               SSL_MODE_RELEASE_BUFFERS);
  SSL_set_accept_state(tls_.get());
  return true;
}

Transfer Transport::tls_result(int result) {
  if (result > 0) return {Flow::moved, static_cast<size_t>(result)};
  switch (SSL_get_error(tls_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      readable_ = ended_;
      return {ended_ ? Flow::over : Flow::wait, 0};
    case SSL_ERROR_WANT_WRITE:
      return {Flow::wait, 0};
    default:
      return {Flow::over, 0};
  }
}

Flow Transport::handshake() {
  ERR_clear_error();
  return tls_result(SSL_do_handshake(tls_.get())).flow;
}

Transfer Transport::read(std::span<char> room) {
  if (!readable_) return {Flow::wait, 0};
  if (tls_) {
    ERR_clear_error();
    return tls_result(SSL_read(tls_.get(), room.data(), as_int(room.size())));
  }
  const Transfer got = socket_result(::recv(fd(), room.data(), room.size(), 0));
  if (got.bytes < room.size()) readable_ = ended_;
  return got;
}

Transfer Transport::write(std::string_view first, std::string_view second) {
  if (tls_) {
    const std::string_view bytes = first.empty() ? second : first;
    ERR_clear_error();
    const int result = SSL_write(tls_.get(), bytes.data(), as_int(bytes.size()));
    if (result <= 0 && SSL_get_error(tls_.get(), result) == SSL_ERROR_WANT_READ) {
      return {ended_ ? Flow::over : Flow::wait, 0};
    }
    return tls_result(result);
  }
  // One buffer is one send(), which costs less than gathering from two.
  if (second.empty()) return socket_result(::send(fd(), first.data(), first.size(), MSG_NOSIGNAL));
  std::array<iovec, 2> parts = {iovec{const_cast<char*>(first.data()), first.size()},
                                iovec{const_cast<char*>(second.data()), second.size()}};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  return socket_result(::sendmsg(fd(), &message, MSG_NOSIGNAL));
}

void Transport::end_writing() {
  if (tls_) {
    ERR_clear_error();
    SSL_shutdown(tls_.get());
  }
  ::shutdown(fd(), SHUT_WR);
}

Transfer Transport::discard() {
  std::array<char, kDiscardBytes> forgotten;
  return socket_result(::recv(fd(), forgotten.data(), forgotten.size(), 0));
}

bool Transport::has_unread() const {
  char byte = 0;
  return ::recv(fd(), &byte, 1, MSG_PEEK) > 0;
}

void Transport::close() {
  tls_.reset();
  fd_.reset();
}

}  // namespace orrery::net
