// Messages of script workers: any bytes are refused or are exactly one message, which encodes to
// the same bytes again.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "script/protocol.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery::script;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto message = decode(bytes);
  if (!message) return 0;
  if (encode(*message).substr(kFrameHead) != bytes) std::abort();
  return 0;
}
