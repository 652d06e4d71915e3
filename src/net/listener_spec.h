// What a listener is: where it listens, what it speaks, and what it allows its clients.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "net/session.h"

namespace orrery::net {

enum class TlsMode : uint8_t {
  off,
  on,
  // TLS and plain on one port. For protocols whose clients speak first, and never with the bytes
  // 16 03 and 01 to 04, which begin a TLS handshake.
  by_first_byte,
};

// Limits of one listener's connections. What they share with those of other listeners (memory, the
// number of all connections) is in ServerOptions.
struct ListenerLimits {
  uint32_t connections_max = 10'000;
  // From a message's first byte until its size is known (HTTP: until the last header); and for the
  // TLS handshake.
  std::chrono::milliseconds head_timeout{15'000};
  // For receiving a body, and for sending an answer: the longest time without progress. The total
  // limit is this plus one second for every transfer_rate_min bytes (pace.h).
  std::chrono::milliseconds body_timeout{30'000};
  std::chrono::milliseconds write_timeout{30'000};
  uint64_t transfer_rate_min = 16 * 1024;
  // For a body to wait for its memory.
  std::chrono::milliseconds buffer_timeout{10'000};
  std::chrono::milliseconds idle_timeout{300'000};  // between messages
};

struct ListenerSpec {
  std::string name = "http";  // in metrics and logs
  std::string address = "127.0.0.1";
  uint16_t port = 0;  // 0: any free one
  TlsMode tls = TlsMode::by_first_byte;
  SessionFactory sessions;  // for HTTP: http_sessions() of http_session.h
  ListenerLimits limits;
  std::string port_option = "--port";  // named when the port cannot be had
};

}  // namespace orrery::net
