// Continuation tokens: nothing that this server did not make is accepted, and what it makes of the
// same bytes reads back.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api/cosmos/continuation.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery::cosmos;
  static const Continuations tokens("fuzz");
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto position = tokens.decode(text, 7)) {
    if (tokens.encode(*position) != text) std::abort();
  }
  if (const auto name = tokens.decode_name(text)) {
    if (tokens.encode_name(*name) != text) std::abort();
  }
  if (size > 2000) return 0;
  FeedPosition position;
  position.container = 7;
  position.after_placement = text.substr(0, size / 2);
  position.after_row = text.substr(size / 2);
  const auto back = tokens.decode(tokens.encode(position), 7);
  if (!back || *back != position) std::abort();
  return 0;
}
