// A blocking HTTP client for the tests of this folder: sends exactly the bytes it is told to, over
// a plain or a TLS connection. Every receive has a time limit, so that a test fails rather than
// hangs.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

namespace orrery::net {

struct Reply {
  int status = 0;  // 0: none came
  std::string head;
  std::string body;

  bool has(std::string_view text) const { return head.find(text) != std::string::npos; }
};

class TestClient {
 public:
  // `receive_buffer`: of the kernel, in bytes; 0 for its default.
  explicit TestClient(uint16_t port, int receive_buffer = 0) {
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (receive_buffer > 0) {
      setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    }
    const timeval limit{.tv_sec = 20, .tv_usec = 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  TestClient(const TestClient&) = delete;
  TestClient& operator=(const TestClient&) = delete;
  ~TestClient() { close(); }

  bool connected() const { return connected_; }

  bool start_tls(SSL_CTX* context, SSL_SESSION* session = nullptr) {
    ssl_ = SSL_new(context);
    SSL_set_fd(ssl_, fd_);
    if (session != nullptr) SSL_set_session(ssl_, session);
    return SSL_connect(ssl_) == 1;
  }
  SSL* ssl() { return ssl_; }

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ssl_ != nullptr
                            ? SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()))
                            : ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(n));
    }
  }

  // Vanishes: the server gets a reset instead of an end.
  void reset() {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close();
  }

  void half_close() { shutdown(fd_, SHUT_WR); }

  void close() {
    if (ssl_ != nullptr) {
      // Without at least a quiet shutdown OpenSSL takes the session for broken, and never resumes
      // it.
      SSL_set_quiet_shutdown(ssl_, 1);
      SSL_shutdown(ssl_);
      SSL_free(std::exchange(ssl_, nullptr));
    }
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

  // Reads one response. `has_body`: false for the answer to HEAD.
  Reply receive(bool has_body = true) {
    Reply reply;
    size_t end = std::string::npos;
    while ((end = received_.find("\r\n\r\n")) == std::string::npos) {
      if (!more()) return reply;
    }
    reply.head = received_.substr(0, end + 4);
    received_.erase(0, end + 4);
    reply.status = std::atoi(reply.head.c_str() + sizeof("HTTP/1.1"));
    const size_t at = reply.head.find("Content-Length: ");
    if (at == std::string::npos || !has_body) return reply;
    const size_t size = std::strtoull(reply.head.c_str() + at + 16, nullptr, 10);
    while (received_.size() < size) {
      if (!more()) return reply;
    }
    reply.body = received_.substr(0, size);
    received_.erase(0, size);
    return reply;
  }

  Reply ask(std::string_view bytes) {
    send(bytes);
    return receive();
  }

  // One line, without its end; empty when none came.
  std::string line() {
    size_t end = std::string::npos;
    while ((end = received_.find('\n')) == std::string::npos) {
      if (!more()) return {};
    }
    std::string line = received_.substr(0, end);
    received_.erase(0, end + 1);
    return line;
  }
  // So many bytes; fewer when the server has closed.
  std::string bytes(size_t size) {
    while (received_.size() < size && more()) {
    }
    std::string bytes = received_.substr(0, size);
    received_.erase(0, bytes.size());
    return bytes;
  }

  // Up to so many bytes, whatever they are; 0 when the server has closed.
  size_t take(size_t bytes_max) {
    std::string bytes(bytes_max, 0);
    const ssize_t n = ssl_ != nullptr ? SSL_read(ssl_, bytes.data(), static_cast<int>(bytes_max))
                                      : recv(fd_, bytes.data(), bytes_max, 0);
    return n > 0 ? static_cast<size_t>(n) : 0;
  }

  // The server has closed, and sent nothing that was not received.
  bool at_end() { return received_.empty() && !more() && ended_; }

 private:
  bool more() {
    char bytes[16384];
    const ssize_t n =
        ssl_ != nullptr ? SSL_read(ssl_, bytes, sizeof bytes) : recv(fd_, bytes, sizeof bytes, 0);
    if (n <= 0) {
      ended_ = n == 0;
      return false;
    }
    received_.append(bytes, static_cast<size_t>(n));
    return true;
  }

  int fd_ = -1;
  SSL* ssl_ = nullptr;
  bool connected_ = false;
  bool ended_ = false;
  std::string received_;
};

}  // namespace orrery::net
