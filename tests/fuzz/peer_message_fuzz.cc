// What other nodes send: requests, answers and calls. Decoding gives a value or an error, and what
// was decoded can be encoded again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "peer/grpc/messages.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery::peer;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  if (v1::ForwardRequest message; message.ParseFromString(bytes)) {
    if (auto request = decode(message)) {
      OutgoingRequest again;
      again.face = request->face;
      again.method = request->method;
      again.target = request->target;
      for (const auto& [name, value] : request->headers) again.headers.emplace_back(name, value);
      again.body = request->body;
      v1::ForwardRequest made;
      encode(again, made);
      auto decoded = decode(made);
      if (!decoded || decoded->headers != request->headers || decoded->body != request->body) {
        std::abort();
      }
    }
  }
  if (v1::ForwardReply message; message.ParseFromString(bytes)) {
    auto answer = decode(message);
    if (answer && !answer->moved && (answer->status < 200 || answer->status > 599)) std::abort();
    v1::ForwardReply made;
    encode(std::move(answer), made);
  }
  if (v1::CallReply message; message.ParseFromString(bytes)) {
    auto answer = decode(message);
    const bool has_bytes = answer.has_value();
    v1::CallReply made;
    encode(std::move(answer), made);
    if (decode(made).has_value() != has_bytes) std::abort();
  }
  return 0;
}
