// Any bytes, cut anywhere: the HTTP parser must not crash, must keep to its bounds, and must find
// the same requests as when it gets all bytes at once.
//
// Input: one byte N (0 to 15), N bytes that give the sizes of successive pieces (used in a circle;
// a size of 0 means 256), then the bytes of the connection.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "net/http.h"
#include "net/parser.h"

namespace {

using orrery::net::Request;
using orrery::net::RequestParser;

constexpr uint32_t kHeaderBytesMax = 2048;
constexpr uint64_t kBodyBytesMax = 4096;

void require(bool condition) {
  if (!condition) std::abort();
}

// All that is found, as one text.
std::string transcript(std::string_view bytes, const std::vector<size_t>& pieces) {
  RequestParser parser(kHeaderBytesMax, kBodyBytesMax);
  std::string found;
  std::string held;
  for (size_t at = 0, turn = 0; at < bytes.size(); ++turn) {
    const size_t piece = pieces.empty() ? bytes.size() : pieces[turn % pieces.size()];
    held.append(bytes.substr(at, piece));
    at += std::min(piece, bytes.size() - at);
    for (;;) {
      size_t size = held.size();
      const RequestParser::Outcome outcome = parser.parse(held.data(), size);
      require(size <= held.size());
      held.resize(size);
      if (outcome == RequestParser::Outcome::need_more) break;
      if (outcome == RequestParser::Outcome::failed) {
        require(parser.error_status() >= 400 && !parser.error_message().empty());
        return found + "failed " + std::to_string(parser.error_status()) + " " +
               std::string(parser.error_message());
      }
      Request request;
      parser.fill(held.data(), request);
      require(parser.consumed() <= held.size());
      require(request.body.size() <= kBodyBytesMax);
      require(!request.method.empty() && !request.target.empty());
      found.append(request.method).append(" ").append(request.target).append("\n");
      for (const auto& [name, value] : request.headers) {
        require(!name.empty() && value.find_first_of("\r\n") == std::string_view::npos);
        found.append(name).append("=").append(value).append("\n");
      }
      found.append(parser.keep_alive() ? "keep " : "close ").append(request.body).append("\n");
      held.erase(0, parser.consumed());
      parser.reset();
      if (held.empty()) break;
    }
  }
  return found + (parser.reading_body() ? "in body" : "in head");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const size_t cuts = data[0] % 16;
  if (size < 1 + cuts) return 0;
  std::vector<size_t> pieces;
  for (size_t i = 0; i < cuts; ++i) pieces.push_back(data[1 + i] == 0 ? 256 : data[1 + i]);
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1 + cuts, size - 1 - cuts);
  const std::string whole = transcript(bytes, {});
  require(whole == transcript(bytes, pieces));
  require(whole == transcript(bytes, {1}));
  return 0;
}
