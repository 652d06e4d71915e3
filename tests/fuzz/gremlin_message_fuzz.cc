// A message from a client: its frame, its GraphSON and its bytecode.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "api/gremlin/wire/message.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery::gremlin;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const bool is_binary : {false, true}) {
    Message message;
    if (!read_message(bytes, is_binary, message)) continue;
    (void)read_bindings(message);
    const orrery::value::Node* gremlin = message.argument("gremlin");
    if (gremlin == nullptr) continue;
    auto read = read_graphson(*gremlin);
    if (!read) continue;
    (void)print(*read);
    if (!read->is_value()) continue;
    std::string out;
    for (const GraphSon form : {GraphSon::untyped, GraphSon::v2, GraphSon::v3}) {
      out.clear();
      if (!append_graphson(out, read->value, form)) continue;
      if (!orrery::value::JsonDocument::parse(out) && form == GraphSon::v3) std::abort();
    }
  }
  return 0;
}
