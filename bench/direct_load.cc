// Load over TLS in one of two protocols, HTTP/1.1 or RNTBD: sends requests that were made before,
// and counts the answers. Each of the connections has `depth` requests under way: all are written
// at once, then all answers are read. HTTP clients have one.
//
//   direct_load http|rntbd PORT SECONDS CONNECTIONS DEPTH FILE
// FILE has requests, each after its length (u32, little-endian). The first one of rntbd is the
// connection context. Prints {"requests":N,"refused":N,"us":N}; refused: the status is not 200.
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "load.h"

namespace {

using orrery::bench::Clock;
using orrery::bench::die;

class Connection {
 public:
  Connection(SSL_CTX* context, uint16_t port) {
    ssl_ = SSL_new(context);
    SSL_set_fd(ssl_, orrery::bench::connect_to_loopback(port));
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
  std::vector<std::string> requests = orrery::bench::read_messages(argv[6]);
  if (requests.size() < 2) die("the file has no requests:", argv[6]);
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
  std::printf("{\"requests\":%zu,\"refused\":%zu,\"us\":%u}\n", done, refused,
              orrery::bench::micros(Clock::now() - start));
  return 0;
}
