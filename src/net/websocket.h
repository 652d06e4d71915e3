// What a face sees of WebSocket (RFC 6455): messages that come whole, a socket to answer on, at
// once or later and from any thread, and the answer to a request that asks for one.
//
// Lifetime: a handler belongs to one connection. It is destroyed with it, on the thread that lets
// go of it last; it must not keep share() of its own socket, which would keep both. Whoever works
// on an answer may.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/http.h"

namespace orrery::net {

enum class MessageKind : uint8_t { text, binary };

// Why a WebSocket is closed: RFC 6455, 7.4.1. A face has 4000 to 4999 for its own.
namespace close_code {
inline constexpr uint16_t kNormal = 1000;
inline constexpr uint16_t kGoingAway = 1001;
inline constexpr uint16_t kProtocolError = 1002;
inline constexpr uint16_t kUnsupportedData = 1003;
inline constexpr uint16_t kNoneGiven = 1005;  // never sent
inline constexpr uint16_t kAbnormal = 1006;   // never sent: there was no Close
inline constexpr uint16_t kInvalidData = 1007;
inline constexpr uint16_t kPolicy = 1008;
inline constexpr uint16_t kTooBig = 1009;
inline constexpr uint16_t kServerError = 1011;
inline constexpr uint16_t kTryLater = 1013;
}  // namespace close_code

struct WebSocketLimits {
  size_t message_bytes_max = 4 * 1024 * 1024;  // all fragments together
  // Limit of the unsent messages. A message that would exceed it disconnects the peer. A message
  // may be larger if nothing else is unsent.
  size_t send_queue_bytes_max = 4 * 1024 * 1024;
  // A peer that was silent for so long is asked for a sign of life, and has so long to give it.
  std::chrono::milliseconds ping_interval{30'000};
  std::chrono::milliseconds pong_timeout{15'000};
  std::chrono::milliseconds close_timeout{5'000};  // for the peer to answer a Close
};

// One end of a WebSocket. Thread-safe, but for pause(). Messages of one thread stay in order.
class WebSocket {
 public:
  virtual ~WebSocket() = default;

  // False: it will not arrive, because the socket is closed or closing, or the peer is cut off.
  virtual bool send(MessageKind kind, std::string message) noexcept = 0;
  // What was sent and not taken. A sender that has more to send than the queue may hold stops when
  // this is large, and goes on at WebSocketHandler::on_all_taken.
  virtual size_t unsent_bytes() const = 0;
  // No message comes after this one until resume(). In WebSocketHandler::on_message.
  virtual void pause() = 0;
  virtual void resume() noexcept = 0;
  // Begins to close: what was sent before still arrives, nothing after it does. `reason`: UTF-8 of
  // 123 bytes at most.
  virtual void close(uint16_t code, std::string reason) noexcept = 0;
  virtual bool is_gone() const = 0;
  // Holds the socket, for an answer that comes later.
  virtual std::shared_ptr<WebSocket> share() = 0;
};

// Implemented by a face. Called on the loop's thread: must not block for long. What it throws
// closes the socket with 1011.
class WebSocketHandler {
 public:
  virtual ~WebSocketHandler() = default;
  virtual void on_message(WebSocket& socket, MessageKind kind, std::string message) = 0;
  // Messages were sent, and all of them are written.
  virtual void on_all_taken(WebSocket& /*socket*/) {}
  // The socket is closed. `code`: what the peer said.
  virtual void on_closed(uint16_t /*code*/) noexcept {}
};

// The answer to a request for a WebSocket: 101, after which `handler` is given its messages, or a
// refusal. `protocols`: names of subprotocols, the best first; the first that the client offers is
// chosen.
Response accept_websocket(const Request& request, const WebSocketLimits& limits,
                          const std::vector<std::string_view>& protocols,
                          std::unique_ptr<WebSocketHandler> handler);

}  // namespace orrery::net
