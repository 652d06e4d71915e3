// Both ends of a WebSocket for the tests of this folder: a blocking client that sends exactly the
// frames it is told to, with an encoder of its own; and a server whose sockets echo, or do what a
// message asks for.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "net/http_session.h"
#include "net/server.h"
#include "net/test_client.h"
#include "net/test_handler.h"
#include "net/websocket.h"

namespace orrery::net {

// ---- The client's end

enum : unsigned { kContinuation = 0, kText = 1, kBinary = 2, kClose = 8, kPing = 9, kPong = 10 };

struct FrameOptions {
  bool last = true;
  bool masked = true;
  unsigned reserved = 0;
};

inline std::string frame(unsigned opcode, std::string_view payload, FrameOptions options = {}) {
  std::string out;
  out += static_cast<char>((options.last ? 0x80U : 0U) | options.reserved << 4 | opcode);
  const unsigned mask_bit = options.masked ? 0x80U : 0U;
  const size_t size = payload.size();
  const size_t length_bytes = size < 126 ? 0 : size < 65'536 ? 2 : 8;
  const size_t first = length_bytes == 0 ? size : length_bytes == 2 ? 126 : 127;
  out += static_cast<char>(mask_bit | first);
  for (size_t i = length_bytes; i > 0; --i) out += static_cast<char>(size >> (8 * (i - 1)));
  if (!options.masked) return out.append(payload);
  const std::string_view mask = "\x12\x34\x56\x78";
  out += mask;
  for (size_t i = 0; i < size; ++i) out += static_cast<char>(payload[i] ^ mask[i % 4]);
  return out;
}

inline std::string close_payload(uint16_t code, std::string_view reason = "") {
  std::string out;
  out += static_cast<char>(code >> 8);
  out += static_cast<char>(code & 0xff);
  return out.append(reason);
}

struct ReceivedFrame {
  unsigned opcode = 99;  // none came
  std::string payload;

  uint16_t code() const {
    if (opcode != kClose) return 0;
    if (payload.size() < 2) return close_code::kNoneGiven;
    return static_cast<uint16_t>(static_cast<unsigned char>(payload[0]) << 8 |
                                 static_cast<unsigned char>(payload[1]));
  }
};

inline std::string upgrade(std::string_view target, std::string_view headers = "") {
  return get(target,
             "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
             "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
                 std::string(headers));
}

class WebSocketClient : public TestClient {
 public:
  explicit WebSocketClient(uint16_t port, int receive_buffer = 0)
      : TestClient(port, receive_buffer) {}

  bool open(std::string_view target = "/socket") { return ask(upgrade(target)).status == 101; }
  void text(std::string_view message) { send(frame(kText, message)); }

  ReceivedFrame receive_frame() {
    ReceivedFrame received;
    const std::string head = bytes(2);
    if (head.size() < 2) return received;
    size_t size = static_cast<unsigned char>(head[1]);
    EXPECT_EQ(static_cast<unsigned char>(head[0]) & 0xf0U, 0x80U) << "whole, no extension";
    EXPECT_LT(size, 128U) << "servers do not mask";
    if (size >= 126) {
      const std::string length = bytes(size == 126 ? 2 : 8);
      size = 0;
      for (const char c : length) size = size << 8 | static_cast<unsigned char>(c);
    }
    received.payload = bytes(size);
    received.opcode = static_cast<unsigned char>(head[0]) & 0xfU;
    return received;
  }
  // The next text; empty for anything else.
  std::string receive_text() {
    ReceivedFrame received = receive_frame();
    return received.opcode == kText ? std::move(received.payload) : std::string();
  }
};

// ---- The server's end

// What the sockets of a server share with the test.
struct Sockets {
  std::atomic<size_t> messages{0};
  std::atomic<size_t> refused_sends{0};
  std::atomic<size_t> unsent_most{0};
  std::atomic<int> closed_code{0};
  std::atomic<size_t> closed{0};

  void hold(std::shared_ptr<WebSocket> socket) {
    const std::lock_guard lock(mutex);
    held.push_back(std::move(socket));
    changed.notify_all();
  }
  std::shared_ptr<WebSocket> take_held() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return !held.empty(); });
    std::shared_ptr<WebSocket> socket = std::move(held.front());
    held.erase(held.begin());
    return socket;
  }
  void stop_here() {
    std::unique_lock lock(mutex);
    stopped = true;
    changed.notify_all();
    changed.wait(lock, [this] { return !stopped; });
  }
  void wait_until_stopped() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return stopped; });
  }
  void go_on() {
    const std::lock_guard lock(mutex);
    stopped = false;
    changed.notify_all();
  }

  ~Sockets() {
    for (std::thread& thread : threads) thread.join();
  }

  std::mutex mutex;
  std::condition_variable changed;
  bool stopped = false;
  std::vector<std::shared_ptr<WebSocket>> held;
  std::vector<std::thread> threads;
};

class TestSocket final : public WebSocketHandler {
 public:
  explicit TestSocket(Sockets& sockets) : sockets_(sockets) {}

  void on_message(WebSocket& socket, MessageKind kind, std::string message) override {
    ++sockets_.messages;
    if (message == "throw") throw std::runtime_error("on purpose");
    if (message == "stop") sockets_.stop_here();
    if (message == "text only" && kind == MessageKind::binary) {
      return socket.close(close_code::kUnsupportedData, "text only");
    }
    if (message.starts_with("close ")) {
      return socket.close(static_cast<uint16_t>(std::atoi(message.c_str() + 6)), "as asked");
    }
    if (message == "hold" || message == "pause") {
      if (message == "pause") socket.pause();
      return sockets_.hold(socket.share());
    }
    if (message == "later") {
      const std::lock_guard lock(sockets_.mutex);
      sockets_.threads.emplace_back(
          [late = socket.share()] { late->send(MessageKind::text, "late"); });
      return;
    }
    if (message.starts_with("flood ")) {
      // Whether anybody takes them or not.
      for (int left = std::atoi(message.c_str() + 6); left > 0; --left) {
        if (!socket.send(MessageKind::binary, std::string(100'000, 'f'))) ++sockets_.refused_sends;
      }
      return;
    }
    if (message.starts_with("stream ")) {
      left_ = std::atoi(message.c_str() + 7);
      return go_on(socket);
    }
    socket.send(kind, std::move(message));
  }

  void on_all_taken(WebSocket& socket) override { go_on(socket); }

  void on_closed(uint16_t code) noexcept override {
    sockets_.closed_code = code;
    ++sockets_.closed;
  }

 private:
  // As much as the peer takes.
  void go_on(WebSocket& socket) {
    while (left_ > 0 && socket.unsent_bytes() < 250'000) {
      --left_;
      if (!socket.send(MessageKind::binary, std::string(100'000, 's'))) ++sockets_.refused_sends;
    }
    if (socket.unsent_bytes() > sockets_.unsent_most) sockets_.unsent_most = socket.unsent_bytes();
  }

  Sockets& sockets_;
  int left_ = 0;
};

class SocketHandler : public TestHandler {
 public:
  explicit SocketHandler(WebSocketLimits limits = {}) : limits(limits) {}

  void handle(const Request& request, Responder responder) override {
    if (request.target == "/messages") {  // how many there were so far
      Response response;
      response.body = std::to_string(sockets.messages);
      return responder.send(std::move(response));
    }
    if (!request.target.starts_with("/socket")) {
      return TestHandler::handle(request, std::move(responder));
    }
    Response response = accept_websocket(request, limits, {"second", "first"},
                                         std::make_unique<TestSocket>(sockets));
    if (request.target != "/socket/later") return responder.send(std::move(response));
    const std::lock_guard lock(sockets.mutex);
    sockets.threads.emplace_back(
        [late = std::move(responder), answer = std::move(response)]() mutable {
          late.send(std::move(answer));
        });
  }

  WebSocketLimits limits;
  Sockets sockets;
};

}  // namespace orrery::net
