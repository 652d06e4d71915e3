// Binary JSON: the text that comes of it is within its bound, and if it is JSON it can be written
// and read again.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api/cosmos/wire/binary_json.h"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery;
  constexpr size_t kMax = 65'536;
  // The longest thing that is written without a look at the bound: a row of 65,535 doubles.
  constexpr size_t kOver = 65'535 * 26 + 65'536 * 6;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto text = cosmos::text_of_binary_json(input, kMax);
  if (!text) return 0;
  check(text->size() <= kMax + kOver);
  const auto binary = cosmos::binary_json_of(*text);
  if (!binary) return 0;
  const auto again = cosmos::text_of_binary_json(*binary, kMax + kOver);
  check(again.has_value());
  check(cosmos::binary_json_of(*again) == *binary);
  return 0;
}
