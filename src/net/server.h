// The server: listeners and the event loops that they share.
//
// Life: create; listen, once for each listener; start; stop. Listeners are not added while it runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/listener_spec.h"

namespace orrery::net {

// What all listeners share.
struct ServerOptions {
  std::string certificate_file;  // PEM; both empty: TLS connections are refused with a log line
  std::string private_key_file;
  uint32_t threads = 0;  // 0: one a core
  uint32_t connections_max = 10'000;
  // Memory for requests that are larger than the 16 KB that each connection has for itself: a
  // quarter of it for those whose headers are, the rest for bodies.
  uint64_t request_buffer_bytes = 64ULL << 20;
  // Memory for answers that clients are slow to take, divided evenly among the threads.
  uint64_t response_buffer_bytes = 64ULL << 20;
};

// Counted by the server, read by whoever exposes metrics.
struct ListenerCounters {
  uint64_t connections_open = 0;
  uint64_t connections_accepted = 0;
  uint64_t connections_refused = 0;  // over the limit
  uint64_t requests = 0;
  uint64_t bad_requests = 0;  // not the protocol, over a bound, or too slow
  uint64_t tls_failures = 0;
  uint64_t failures = 0;      // connections that an exception ended
  uint64_t slow_readers = 0;  // closed because they did not take their answers
};

struct ListenerStatus {
  std::string name;
  std::string address;
  uint16_t port = 0;
  ListenerCounters counters;
};

// The sums over all listeners, and what they share.
struct ServerCounters : ListenerCounters {
  uint64_t accept_pauses = 0;         // the process was out of file descriptors or memory
  uint64_t request_buffer_bytes = 0;  // reserved now
};

class Server {
 public:
  // Connections over the limit that are being told so, at a time. Others are closed without a word.
  static constexpr uint64_t kRefusalsOpenMax = 8;

  // Reads the certificate, if there is one, and makes the event loops.
  static Result<std::unique_ptr<Server>> create(const ServerOptions& options);
  ~Server();  // as stop() with no grace

  // Before start(): binds, and returns the port. Clients that connect from here on are served when
  // the server has started. What the factory refers to must outlive the server. When it fails, the
  // server is as before.
  Result<uint16_t> listen(ListenerSpec spec);
  // Starts the threads. Once.
  Status start();

  ServerCounters counters() const;
  std::vector<ListenerStatus> listeners() const;  // in the order of listen()

  // Accepts no more, answers what was accepted, closes idle connections at once, and gives the rest
  // `grace` to finish; all of this for all listeners. Returns when all threads have ended.
  void stop(std::chrono::milliseconds grace);

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace orrery::net
