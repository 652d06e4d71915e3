// Lists of session tokens: what is demanded of a range is demanded of its descendants too.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api/cosmos/wire/session_token.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery::cosmos;
  const std::string_view list(reinterpret_cast<const char*>(data), size);
  const std::array<uint32_t, 1> parent = {0};
  const auto of_parent = lsn_required(list, 0, {});
  const auto of_child = lsn_required(list, 1, parent);
  if (of_parent.has_value() != of_child.has_value()) std::abort();
  if (!of_parent || !*of_parent) return 0;
  if (!*of_child || **of_child < **of_parent) std::abort();
  const auto again = lsn_required(session_token(0, **of_parent), 0, {});
  if (!again || *again != *of_parent) std::abort();
  return 0;
}
