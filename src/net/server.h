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
  // Memory for requests that are larger than the 16 KB that each connection has for itself: a
  // quarter of it for those whose headers are, the rest for bodies.
  uint64_t request_buffer_bytes = 64ULL << 20;
  // Memory for answers that clients are slow to take, divided evenly among the threads.
  uint64_t response_buffer_bytes = 64ULL << 20;
  // From a request's first byte to its last header.
  std::chrono::milliseconds header_timeout{15'000};
  // For a body to come, and for an answer to be taken: the longest without any byte, and in all
  // this and a second more for every transfer_rate_min bytes.
  std::chrono::milliseconds body_timeout{30'000};
  std::chrono::milliseconds write_timeout{30'000};
  uint64_t transfer_rate_min = 16 * 1024;
  // For a body to wait for its memory.
  std::chrono::milliseconds buffer_timeout{10'000};
  std::chrono::milliseconds idle_timeout{300'000};  // between requests
};

// Counted by the server, read by whoever exposes metrics.
struct ServerCounters {
  uint64_t connections_open = 0;
  uint64_t connections_accepted = 0;
  uint64_t connections_refused = 0;  // over the limit
  uint64_t requests = 0;
  uint64_t bad_requests = 0;  // not HTTP, over a bound, or too slow
  uint64_t tls_failures = 0;
  uint64_t failures = 0;              // connections that an exception ended
  uint64_t accept_pauses = 0;         // the process was out of file descriptors or memory
  uint64_t slow_readers = 0;          // closed because they did not take their answers
  uint64_t request_buffer_bytes = 0;  // reserved now
};

class Server {
 public:
  // Connections over the limit that are being told so, at a time. Others are closed without a word.
  static constexpr uint64_t kRefusalsOpenMax = 8;

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
