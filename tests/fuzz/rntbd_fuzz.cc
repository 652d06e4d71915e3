// Any bytes, cut anywhere, to a session of direct mode on its stream: it must neither crash nor
// hang; what it hands to the handler is a request that HTTP could have; what it sends are whole
// frames, one for each request; and all of it is the same as when all bytes come at once.
//
// Input: how many sizes of pieces, as one byte, the sizes, then frames.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/cosmos/direct/direct_response.h"
#include "api/cosmos/direct/direct_session.h"
#include "api/cosmos/direct/replica_path.h"
#include "api/cosmos/wire/request_headers.h"
#include "api/cosmos/wire/resource_address.h"
#include "base/bytes.h"
#include "stream_driver.h"

namespace {

using namespace orrery;
using namespace orrery::cosmos::direct;
using orrery::net::require;
using orrery::net::StreamDriver;

constexpr FrameLimits kLimits{.head_bytes_max = 4096, .payload_bytes_max = 40'000};

std::string seen;  // all requests, as one text
std::vector<net::Responder> late;

class TestHandler final : public DirectHandler {
 public:
  void handle_direct(const DirectRequest& request, net::Responder responder) override {
    const net::Request& http = request.http;
    require(!http.method.empty() && http.target.starts_with('/'));
    for (const char c : http.target) require(c > ' ' && c < 0x7f);
    require(http.body.size() <= kLimits.payload_bytes_max);
    const auto known = cosmos::RequestHeaders::of(http.headers);
    require(known.activity_id.size() == 36);
    static_cast<void>(cosmos::address_of(http.target));
    static_cast<void>(parse_replica_path(request.replica_path));
    seen.append(http.method).append(" ").append(http.target).append(" ").append(http.body);
    seen += '\n';
    if (known.is_upsert == "true") return late.push_back(std::move(responder));
    net::Response response;
    response.body = http.target;
    responder.send(std::move(response));
  }
  std::optional<net::Response> refuse_direct(const DirectRequest&) override { return std::nullopt; }
};

void answer_late() {
  for (net::Responder& responder : std::exchange(late, {})) responder.send({});
}

// Whole frames, and how many.
size_t count_frames(std::string_view bytes) {
  size_t frames = 0;
  while (!bytes.empty()) {
    require(bytes.size() >= kFrameHeadBytes);
    const size_t head = load_u32_le(bytes.data());
    require(head >= kFrameHeadBytes && head <= bytes.size());
    const uint32_t status = load_u32_le(bytes.data() + 4);
    require(status >= 200 && status < 600);
    bool has_payload = false;
    bool is_answer = false;
    TokenReader reader(bytes.substr(kFrameHeadBytes, head - kFrameHeadBytes));
    Token token;
    TokenReader::Outcome outcome;
    while ((outcome = reader.next(token)) == TokenReader::Outcome::token) {
      if (token.id == 0x0000 && token.type == TokenType::byte) has_payload = token.number == 1;
      if (token.id == 0x0035) is_answer = true;
    }
    require(outcome == TokenReader::Outcome::end);
    bytes.remove_prefix(head);
    if (!is_answer && status != 200) has_payload = true;  // a context that was refused
    if (has_payload) {
      require(bytes.size() >= 4);
      const size_t payload = load_u32_le(bytes.data());
      require(payload <= bytes.size() - 4);
      bytes.remove_prefix(4 + payload);
    }
    ++frames;
  }
  return frames;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const size_t sizes = std::min<size_t>(data[0] % 4, size - 1);
  std::vector<size_t> pieces;
  for (size_t i = 1; i <= sizes; ++i) pieces.push_back(data[i] + size_t{1});
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1 + sizes, size - 1 - sizes);

  static TestHandler handler;
  static StreamDriver driver(direct_sessions(handler, kLimits), answer_late);
  seen.clear();
  const size_t at_once = count_frames(driver.run(bytes, {}));
  const std::string requests = std::exchange(seen, {});
  const size_t in_pieces = count_frames(driver.run(bytes, pieces));
  late.clear();
  // A malformed frame ends a connection, with what was not written yet.
  require(seen == requests);
  require(at_once <= in_pieces + 64 && in_pieces <= at_once + 64);
  return 0;
}
