// What nodes say to one another: whatever the bytes are, what is taken for a message is written as
// the same bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "nodes/messages.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery::nodes;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0: {
      // A load that is no number is read as none, so only what was read is compared.
      const auto request = decode_follow_request(bytes);
      if (!request) break;
      const auto again = decode_follow_request(encode(*request));
      if (!again || *again != *request) std::abort();
      break;
    }
    case 1: {
      // Ranges that are named twice, or out of order, are read as a map: again as it was read.
      const auto answer = decode_follow_answer(bytes);
      if (!answer) break;
      const auto again = decode_follow_answer(encode(*answer));
      if (!again || encode(*again) != encode(*answer)) std::abort();
      break;
    }
    case 2: {
      const auto request = decode_drain_request(bytes);
      if (request && encode(*request) != bytes) std::abort();
      break;
    }
    default: {
      const auto request = decode_move_request(bytes);
      if (request && encode(*request) != bytes) std::abort();
    }
  }
  return 0;
}
