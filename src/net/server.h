// The listener: HTTP/1.1 and HTTPS on one port, told apart by the first byte of a connection.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "net/http.h"

namespace orrery::net {

struct ServerOptions {
  std::string address = "127.0.0.1";
  uint16_t port = 8081;          // 0: any free one
  std::string certificate_file;  // PEM; both empty: TLS connections are refused with a log line
  std::string private_key_file;
  uint32_t threads = 0;  // 0: one a core
  uint32_t connections_max = 10'000;
  uint32_t header_bytes_max = 64 * 1024;
  uint64_t body_bytes_max = 4 * 1024 * 1024;
  std::chrono::milliseconds header_timeout{
      15'000};                                     // from a request's first byte to its last header
  std::chrono::milliseconds body_timeout{60'000};  // without any byte of the body
  std::chrono::milliseconds idle_timeout{300'000};  // between requests
  std::chrono::milliseconds write_timeout{60'000};  // without the peer taking any byte
};

// Counted by the server, read by whoever exposes metrics.
struct ServerCounters {
  uint64_t connections_open = 0;
  uint64_t connections_accepted = 0;
  uint64_t connections_refused = 0;  // over the limit
  uint64_t requests = 0;
  uint64_t bad_requests = 0;  // not HTTP, over a bound, or too slow
  uint64_t tls_failures = 0;
  uint64_t failures = 0;       // connections that an exception ended
  uint64_t accept_pauses = 0;  // the process was out of file descriptors or memory
};

class Server {
 public:
  // Binds, listens and starts its threads. `handler` must outlive the server.
  static Result<std::unique_ptr<Server>> start(const ServerOptions& options, Handler& handler);
  ~Server();  // as stop() with no grace

  uint16_t port() const;
  ServerCounters counters() const;

  // Accepts no more, answers what was accepted, closes idle connections at once, and gives the rest
  // `grace` to finish. Returns when all threads have ended.
  void stop(std::chrono::milliseconds grace);

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace orrery::net
