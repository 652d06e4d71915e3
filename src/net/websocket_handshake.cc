// From a request for a WebSocket to its answer: RFC 6455, 4.2. See websocket.h.
#include <openssl/evp.h>

#include <array>
#include <cstddef>
#include <utility>

#include "net/response_head.h"
#include "net/websocket.h"
#include "net/websocket_session.h"

namespace orrery::net {
namespace {

constexpr std::string_view kVersion = "13";
constexpr std::string_view kGuid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
constexpr size_t kSha1Bytes = 20;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Whether a header with this name lists `wanted`; it may be there more than once.
template <class Same>
bool lists(const Request& request, std::string_view name, std::string_view wanted, Same same) {
  for (const Header& header : request.headers) {
    if (!equals_ignoring_case(header.name, name)) continue;
    for (std::string_view rest = header.value; !rest.empty();) {
      const size_t comma = rest.find(',');
      if (same(trimmed(rest.substr(0, comma)), wanted)) return true;
      rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
    }
  }
  return false;
}

bool equals(std::string_view a, std::string_view b) {
  return a == b;
}

// Sixteen bytes in base64: 22 characters, the last of which has four bits that count, and "==".
bool is_key(std::string_view text) {
  if (text.size() != 24 || !text.ends_with("==")) return false;
  for (const char c : text.substr(0, 22)) {
    const bool known = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                       c == '+' || c == '/';
    if (!known) return false;
  }
  return std::string_view("AQgw").find(text[21]) != std::string_view::npos;
}

std::string accept_value(std::string_view key) {
  const std::string text = std::string(key).append(kGuid);
  std::array<unsigned char, kSha1Bytes> digest{};
  EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha1(), nullptr);
  std::array<unsigned char, 4 * ((kSha1Bytes + 2) / 3) + 1> encoded{};
  const int size = EVP_EncodeBlock(encoded.data(), digest.data(), digest.size());
  return {reinterpret_cast<const char*>(encoded.data()), static_cast<size_t>(size)};
}

Response refuse(int status, std::string_view message) {
  Response response;
  response.status = status;
  response.add("Content-Type", "application/json");
  response.body = error_body(status, message);
  return response;
}

size_t count(const Request& request, std::string_view name) {
  size_t found = 0;
  for (const Header& header : request.headers) {
    if (equals_ignoring_case(header.name, name)) ++found;
  }
  return found;
}

class BeginWebSocket final : public TakeOver {
 public:
  BeginWebSocket(const WebSocketLimits& limits, std::unique_ptr<WebSocketHandler> handler)
      : limits_(limits), handler_(std::move(handler)) {}

  std::unique_ptr<Session> begin(Stream& stream) override {
    return std::make_unique<WebSocketSession>(stream, limits_, std::move(handler_));
  }

 private:
  const WebSocketLimits limits_;
  std::unique_ptr<WebSocketHandler> handler_;
};

}  // namespace

Response accept_websocket(const Request& request, const WebSocketLimits& limits,
                          const std::vector<std::string_view>& protocols,
                          std::unique_ptr<WebSocketHandler> handler) {
  if (!lists(request, "upgrade", "websocket", equals_ignoring_case)) {
    Response response = refuse(426, "Only a WebSocket is spoken here: ask for one with Upgrade.");
    response.add("Upgrade", "websocket");
    response.add("Connection", "Upgrade");
    return response;
  }
  if (request.method != "GET" || !request.body.empty()) {
    return refuse(400, "A WebSocket is asked for with GET and no body.");
  }
  if (!lists(request, "connection", "upgrade", equals_ignoring_case)) {
    return refuse(400, "A WebSocket is asked for with the header Connection: Upgrade.");
  }
  const std::string_view version = request.header("sec-websocket-version");
  if (version.empty()) return refuse(400, "Sec-WebSocket-Version is missing.");
  if (version != kVersion) {
    Response response = refuse(426, "This server speaks version 13 of WebSocket.");
    response.add("Sec-WebSocket-Version", kVersion);
    return response;
  }
  const std::string_view key = request.header("sec-websocket-key");
  if (count(request, "sec-websocket-key") != 1 || !is_key(key)) {
    return refuse(400, "Sec-WebSocket-Key is not 16 bytes in base64.");
  }
  Response response;
  response.status = 101;
  response.add("Upgrade", "websocket");
  response.add("Connection", "Upgrade");
  response.add("Sec-WebSocket-Accept", accept_value(key));
  for (const std::string_view protocol : protocols) {
    if (!lists(request, "sec-websocket-protocol", protocol, equals)) continue;
    response.add("Sec-WebSocket-Protocol", protocol);
    break;
  }
  response.take_over = std::make_unique<BeginWebSocket>(limits, std::move(handler));
  return response;
}

}  // namespace orrery::net
