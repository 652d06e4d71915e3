// Any bytes, cut anywhere, to a WebSocket session on its stream: it must neither crash nor hang,
// must deliver only messages that are whole, within the limit and, if text, UTF-8; must send only
// frames that are well formed, and none after a Close; and all of it the same as when all bytes
// come at once.
//
// Input: as http_fuzz.cc has it, with frames instead of requests. A mask of zeros leaves text as it
// is.
#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/websocket_session.h"
#include "stream_driver.h"

namespace {

using namespace orrery::net;

constexpr size_t kMessageBytesMax = 1000;

std::vector<std::pair<std::shared_ptr<WebSocket>, std::string>> late;
std::string seen;  // all messages, as one text

class Echo final : public WebSocketHandler {
 public:
  void on_message(WebSocket& socket, MessageKind kind, std::string message) override {
    require(message.size() <= kMessageBytesMax);
    require(kind == MessageKind::binary || simdjson::validate_utf8(message.data(), message.size()));
    seen.append(kind == MessageKind::text ? "text " : "binary ").append(message).append("\n");
    if (message == "close") return socket.close(close_code::kNormal, "as asked");
    if (message == "pause") {
      socket.pause();
      late.emplace_back(socket.share(), message);
      return;
    }
    socket.send(kind, std::move(message));
  }
  void on_closed(uint16_t code) noexcept override { seen.append(std::to_string(code)); }
};

void answer_late() {
  for (auto& [socket, message] : late) {
    socket->send(MessageKind::text, std::move(message));
    socket->resume();
  }
  late.clear();
}

// A server's frames, one after the other, and a Close as the last.
void check_output(std::string_view bytes) {
  bool closed = false;
  while (!bytes.empty()) {
    require(!closed && bytes.size() >= 2);
    const auto first = static_cast<unsigned char>(bytes[0]);
    size_t size = static_cast<unsigned char>(bytes[1]);
    const unsigned opcode = first & 0xfU;
    require((first & 0xf0U) == 0x80U && size <= 126);  // the echo of what is small
    require(opcode == 1 || opcode == 2 || opcode == 8 || opcode == 10);
    size_t header = 2;
    if (size == 126) {
      require(bytes.size() >= 4 && opcode < 8);
      size = static_cast<size_t>(static_cast<unsigned char>(bytes[2])) << 8 |
             static_cast<unsigned char>(bytes[3]);
      require(size >= 126);
      header = 4;
    }
    require(bytes.size() >= header + size);
    closed = opcode == 8;
    if (closed) require(size != 1);
    bytes.remove_prefix(header + size);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static StreamDriver driver(
      [](Stream& stream) {
        return std::make_unique<WebSocketSession>(
            stream, WebSocketLimits{.message_bytes_max = kMessageBytesMax},
            std::make_unique<Echo>());
      },
      answer_late);
  std::string_view input(reinterpret_cast<const char*>(data), size);
  std::vector<size_t> pieces;
  if (!take_pieces(input, pieces)) return 0;
  const auto run = [&](const std::vector<size_t>& cuts) {
    seen.clear();
    const std::string received = driver.run(input, cuts);
    check_output(received);
    return seen + "\n" + received;
  };
  const std::string whole = run({});
  require(whole == run(pieces));
  if (input.size() < 300) require(whole == run({1}));
  return 0;
}
