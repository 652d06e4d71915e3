// BSON from outside: what is accepted is written again, and reads back as the same.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api/mongo/bson/bson_codec.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  auto value = mongo::from_bson(bytes);
  if (!value) return 0;
  auto written = mongo::to_bson(*value);
  if (!written) std::abort();
  auto again = mongo::from_bson(*written);
  if (!again || compare(*value, *again, value::ValueOrder::typed) != 0) std::abort();
  return 0;
}
