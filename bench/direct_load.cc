// Load over TLS in one of two protocols, HTTP/1.1 or RNTBD: sends requests that were made before,
// and counts the answers. Each of the connections has `depth` requests under way: all are written
// at once, then all answers are read. HTTP clients have one.
//
//   direct_load http|rntbd PORT SECONDS CONNECTIONS DEPTH FILE
// FILE has requests, each after its length (u32, little-endian). The first one of rntbd is the
// connection context. Prints {"requests":N,"refused":N,"us":N}; refused: the status is not 200.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void die(const char* why) {
  std::fprintf(stderr, "direct_load: %s\n", why);
  std::exit(1);
}

std::vector<std::string> read_requests(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<std::string> requests;
  for (size_t at = 0; at + 4 <= bytes.size();) {
    const size_t size = orrery::load_u32_le(bytes.data() + at);
    requests.push_back(bytes.substr(at + 4, size));
    at += 4 + size;
  }
  if (requests.size() < 2) die("the file has no requests");
  return requests;
}

class Connection {
 public:
  Connection(SSL_CTX* context, uint16_t port) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      die("cannot connect");
    }
    ssl_ = SSL_new(context);
    SSL_set_fd(ssl_, fd);
    if (SSL_connect(ssl_) != 1) die("the TLS handshake failed");
  }

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const int sent = SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()));
      if (sent <= 0) die("the server closed the connection");
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
  }

  // The status of the next answer.
  unsigned answer_http() {
    size_t end = 0;
    while ((end = rest().find("\r\n\r\n")) == std::string_view::npos) more();
    const std::string_view head = rest().substr(0, end);
    const auto status = static_cast<unsigned>(std::atoi(head.data() + 9));
    const size_t at = head.find("Content-Length: ");
    const size_t body =
        at != std::string_view::npos ? std::strtoul(head.data() + at + 16, nullptr, 10) : 0;
    take(end + 4 + body);
    return status;
  }
  unsigned answer_rntbd() {
    while (rest().size() < 32) more();
    const size_t head = orrery::load_u32_le(rest().data());
    const unsigned status = orrery::load_u32_le(rest().data() + 4);
    // PayloadPresent comes first in our answers, and not in that to the context.
    const bool has_payload = std::memcmp(rest().data() + 24, "\0\0\0\1", 4) == 0;
    if (!has_payload) {
      take(head);
      return status;
    }
    while (rest().size() < head + 4) more();
    take(head + 4 + orrery::load_u32_le(rest().data() + head));
    return status;
  }

 private:
  std::string_view rest() const { return std::string_view(received_).substr(done_); }
  void take(size_t bytes) {
    while (rest().size() < bytes) more();
    done_ += bytes;
    if (done_ == received_.size()) {
      received_.clear();
      done_ = 0;
    }
  }
  void more() {
    char bytes[32768];
    const int got = SSL_read(ssl_, bytes, sizeof bytes);
    if (got <= 0) die("the server closed the connection");
    received_.append(bytes, static_cast<size_t>(got));
  }

  SSL* ssl_ = nullptr;
  std::string received_;
  size_t done_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) die("usage: http|rntbd PORT SECONDS CONNECTIONS DEPTH FILE");
  const bool rntbd = std::string_view(argv[1]) == "rntbd";
  const auto port = static_cast<uint16_t>(std::atoi(argv[2]));
  const auto time = std::chrono::milliseconds(static_cast<int64_t>(std::atof(argv[3]) * 1000));
  const auto count = static_cast<size_t>(std::atoi(argv[4]));
  const auto depth = static_cast<size_t>(std::atoi(argv[5]));
  std::vector<std::string> requests = read_requests(argv[6]);
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  std::vector<Connection> connections;
  connections.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    connections.emplace_back(context, port);
    if (!rntbd) continue;
    connections.back().send(requests.front());
    if (connections.back().answer_rntbd() != 200) die("the context was refused");
  }
  if (rntbd) requests.erase(requests.begin());

  size_t done = 0;
  size_t refused = 0;
  size_t next = 0;
  std::string batch;
  const auto start = Clock::now();
  while (Clock::now() - start < time) {
    for (Connection& connection : connections) {
      batch.clear();
      for (size_t i = 0; i < depth; ++i) batch += requests[next++ % requests.size()];
      connection.send(batch);
    }
    for (Connection& connection : connections) {
      for (size_t i = 0; i < depth; ++i) {
        const unsigned status = rntbd ? connection.answer_rntbd() : connection.answer_http();
        if (status != 200) ++refused;
        ++done;
      }
    }
  }
  const auto took =
      std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count();
  std::printf("{\"requests\":%zu,\"refused\":%zu,\"us\":%lld}\n", done, refused,
              static_cast<long long>(took));
  return 0;
}
