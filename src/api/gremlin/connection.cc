// See connection.h.
#include "api/gremlin/connection.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "api/gremlin/evaluation.h"
#include "api/gremlin/graph/item.h"

namespace orrery::gremlin {
namespace {

// Requests that wait for a login, of one socket.
constexpr size_t kHeldMax = 64;
// A sender waits at this many unsent bytes.
constexpr size_t kUnsentMax = 4ULL << 20;

Operation operation_of(const Message& message) {
  if (message.op == "eval") return Operation::eval;
  if (message.op == "bytecode") return Operation::bytecode;
  if (message.op == "close") return Operation::close;
  if (message.op == "authentication") return Operation::authentication;
  return Operation::other;
}

// The answers to one request of a socket.
class SocketAnswers final : public Answers {
 public:
  SocketAnswers(std::shared_ptr<Outbox> outbox, std::string id, GraphSon form)
      : outbox_(std::move(outbox)), id_(std::move(id)), form_(form) {}

  bool part(const std::string& results, const Attributes& attributes) override {
    return outbox_->send(response_of(id_, status::kPartial, "", attributes, &results, form_));
  }
  void last(const std::string* results, const Attributes& attributes, bool may_wait) override {
    const int code = results == nullptr ? status::kNoContent : status::kSuccess;
    send(response_of(id_, code, "", attributes, results, form_), may_wait);
  }
  void fail(const Failure& failure, const Attributes& attributes, bool may_wait) override {
    const std::string text = fmt::format(
        "\r\nActivityId : {}\r\nExceptionType : {}\r\nExceptionMessage :\r\n\t{}\r\n",
        attributes.activity_id,
        failure.is_parsing ? "GraphCompileException" : "GraphRuntimeException", failure.message);
    send(response_of(id_, failure.code, text, attributes, nullptr, form_), may_wait);
  }
  bool is_gone() const override { return outbox_->is_gone(); }

 private:
  void send(std::string message, bool may_wait) {
    if (may_wait) {
      outbox_->send(std::move(message));
    } else {
      outbox_->post(std::move(message));
    }
  }

  const std::shared_ptr<Outbox> outbox_;
  const std::string id_;
  const GraphSon form_;
};

}  // namespace

bool Outbox::send(std::string message) {
  if (!socket_->send(net::MessageKind::binary, std::move(message))) return false;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (socket_->unsent_bytes() > kUnsentMax && !socket_->is_gone()) {
    MutexLock lock(mutex_);
    if (std::chrono::steady_clock::now() > until) return false;
    taken_.wait_for(mutex_, std::chrono::milliseconds(100));
  }
  return true;
}

void Outbox::all_taken() {
  MutexLock lock(mutex_);
  taken_.notify_all();
}

void Connection::on_message(net::WebSocket& socket, net::MessageKind kind, std::string bytes) {
  Message message;
  const Status read = read_message(bytes, kind == net::MessageKind::binary, message);
  if (!read) {
    context_.metrics.done(static_cast<size_t>(Operation::other), status::kMalformed, 0);
    if (!message.graphbinary_id.empty()) {
      socket.send(
          net::MessageKind::binary,
          graphbinary_refusal(message.graphbinary_id, status::kMalformed, read.error().message));
      return;
    }
    return answer(socket, message, status::kMalformed, 1004, read.error().message);
  }
  handle(socket, std::move(message));
}

void Connection::handle(net::WebSocket& socket, Message message) {
  if (message.op == "authentication") return authenticate(socket, message);
  if (!login_) {
    if (held_.size() >= kHeldMax) {
      return answer(socket, message, status::kUnauthorized, 401,
                    "too many requests wait for this connection to log in");
    }
    answer(socket, message, status::kAuthenticate, 407, "");
    held_.push_back(std::move(message));
    return;
  }
  if (message.op == "eval" || message.op == "bytecode") return run(socket, std::move(message));
  if (message.op == "close") {
    context_.metrics.done(static_cast<size_t>(Operation::close), status::kNoContent, 0);
    return answer(socket, message, status::kNoContent, 200, "");
  }
  context_.metrics.done(static_cast<size_t>(operation_of(message)), status::kMalformed, 0);
  answer(socket, message, status::kMalformed, 1004,
         "there is no op '" + message.op.substr(0, 100) + "': eval, bytecode and close are served");
}

void Connection::authenticate(net::WebSocket& socket, const Message& message) {
  auto login = log_in(message.text("sasl"), context_.lent.account);
  const int code = login ? status::kSuccess : status::kUnauthorized;
  context_.metrics.done(static_cast<size_t>(Operation::authentication), code, 0);
  if (!login) {
    std::erase_if(held_, [&](const Message& held) { return held.id == message.id; });
    return answer(socket, message, status::kUnauthorized, 401, login.error().message);
  }
  login_ = std::make_shared<const Login>(std::move(*login));
  std::deque<Message> held = std::exchange(held_, {});
  for (Message& one : held) handle(socket, std::move(one));
}

GraphSon Connection::form_of(const Message& message) const {
  if (message.form == GraphSon::v2 && message.op != "bytecode" &&
      !context_.options.typed_graphson2) {
    return GraphSon::untyped;
  }
  return message.form;
}

void Connection::run(net::WebSocket& socket, Message message) {
  auto outbox = outbox_.lock();
  if (!outbox) {
    outbox = std::make_shared<Outbox>(socket.share());
    outbox_ = outbox;
  }
  const GraphSon form = form_of(message);
  auto answers = std::make_unique<SocketAnswers>(std::move(outbox), message.id, form);
  start_evaluation(context_, std::move(answers), login_, std::move(message), form);
}

void Connection::on_all_taken(net::WebSocket& /*socket*/) {
  if (const auto outbox = outbox_.lock()) outbox->all_taken();
}

void Connection::on_closed(uint16_t /*code*/) noexcept {
  if (const auto outbox = outbox_.lock()) outbox->all_taken();
}

void Connection::answer(net::WebSocket& socket, const Message& message, int code, int service_code,
                        std::string_view text) const {
  Attributes attributes;
  attributes.status_code = service_code;
  attributes.activity_id = new_id();
  socket.send(net::MessageKind::binary,
              response_of(message.id, code, text, attributes, nullptr, form_of(message)));
}

}  // namespace orrery::gremlin
