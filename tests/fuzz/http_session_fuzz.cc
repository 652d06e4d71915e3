// Any bytes, cut anywhere, to an HTTP session on its stream: it must neither crash nor hang, and
// must give the same answers as when all bytes come at once. Some requests are answered later, some
// take the stream over for a WebSocket.
//
// Input: as http_fuzz.cc has it.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/http_session.h"
#include "net/websocket.h"
#include "stream_driver.h"

namespace {

using namespace orrery::net;

constexpr HttpLimits kLimits{.header_bytes_max = 2048, .body_bytes_max = 100'000};

class Echo final : public WebSocketHandler {
 public:
  void on_message(WebSocket& socket, MessageKind kind, std::string message) override {
    socket.send(kind, std::move(message));
  }
};

class FuzzHandler final : public Handler {
 public:
  void handle(const Request& request, Responder responder) override {
    require(request.body.size() <= kLimits.body_bytes_max);
    if (request.target.starts_with("/socket")) {
      return responder.send(accept_websocket(request, {}, {"one"}, std::make_unique<Echo>()));
    }
    Response response;
    response.body.append(request.method).append(" ").append(request.target).append(" ");
    response.body.append(request.body);
    // Above what is copied behind its head.
    if (request.target == "/large") response.body.append(20'000, 'l');
    if (request.target == "/close") response.close = true;
    if (request.target == "/unsent") return;
    if (request.target != "/later") return responder.send(std::move(response));
    held_.emplace_back(std::move(responder), std::move(response));
  }

  void answer_held() {
    for (auto& [responder, response] : held_) responder.send(std::move(response));
    held_.clear();
  }

 private:
  std::vector<std::pair<Responder, Response>> held_;
};

// Without what depends on time, and on how much of a body had come when its head was read.
std::string comparable(std::string text) {
  constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  for (size_t at = 0; (at = text.find(kContinue, at)) != std::string::npos;) {
    text.erase(at, kContinue.size());
  }
  for (size_t at = 0; (at = text.find("\r\nDate: ", at)) != std::string::npos;) {
    text.erase(at, text.find("\r\n", at + 2) - at);
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static FuzzHandler handler;
  static StreamDriver driver(http_sessions(handler, kLimits), [] { handler.answer_held(); });
  std::string_view input(reinterpret_cast<const char*>(data), size);
  std::vector<size_t> pieces;
  if (!take_pieces(input, pieces)) return 0;
  const std::string whole = comparable(driver.run(input, {}));
  require(whole.empty() || whole.starts_with("HTTP/1.1 "));
  require(whole == comparable(driver.run(input, pieces)));
  if (input.size() < 300) require(whole == comparable(driver.run(input, {1})));
  return 0;
}
