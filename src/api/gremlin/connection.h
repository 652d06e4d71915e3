// One WebSocket: who is logged in, and which traversals run.
//
// Threading: on_message comes on the loop's thread. Answers go out from threads of the lanes; what
// they share with it is in Outbox, which outlives both.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <string>

#include "api/gremlin/auth/login.h"
#include "api/gremlin/handler_context.h"
#include "api/gremlin/wire/message.h"
#include "base/thread_annotations.h"
#include "net/websocket.h"

namespace orrery::gremlin {

inline constexpr size_t kSendQueueBytesMax = 32ULL << 20;

// The way out. A sender that has filled it waits until the client has taken everything.
class Outbox {
 public:
  explicit Outbox(std::shared_ptr<net::WebSocket> socket) : socket_(std::move(socket)) {}
  // False: the client has gone, or takes nothing for too long.
  bool send(std::string message);
  // The same without waiting: for one message of a request.
  bool post(std::string message) {
    return socket_->send(net::MessageKind::binary, std::move(message));
  }
  void all_taken();
  bool is_gone() const { return socket_->is_gone(); }

 private:
  const std::shared_ptr<net::WebSocket> socket_;
  Mutex mutex_;
  CondVar taken_;
};

class Connection final : public net::WebSocketHandler {
 public:
  explicit Connection(const HandlerContext& context) : context_(context) {}

  void on_message(net::WebSocket& socket, net::MessageKind kind, std::string message) override;
  void on_all_taken(net::WebSocket& socket) override;
  void on_closed(uint16_t code) noexcept override;

 private:
  void handle(net::WebSocket& socket, Message message);
  void authenticate(net::WebSocket& socket, const Message& message);
  void run(net::WebSocket& socket, Message message);
  GraphSon form_of(const Message& message) const;
  void answer(net::WebSocket& socket, const Message& message, int code, int service_code,
              std::string_view text) const;

  const HandlerContext& context_;
  std::shared_ptr<const Login> login_;
  std::deque<Message> held_;      // until there is a login
  std::weak_ptr<Outbox> outbox_;  // while traversals run
};

}  // namespace orrery::gremlin
