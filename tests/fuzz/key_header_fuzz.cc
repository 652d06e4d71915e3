// The partition key header: whatever is accepted has a JSON form that reads back as the same key.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api/cosmos/wire/partition_key_header.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery;
  const std::string_view header(reinterpret_cast<const char*>(data), size);
  const auto key = cosmos::parse_key_header(header);
  if (!key) return 0;
  if (key->size() > value::kMaxKeyLevels) std::abort();
  const std::string json = value::to_json(*key);
  if (json.size() <= cosmos::kMaxKeyHeaderBytes) {
    const auto again = cosmos::parse_key_header(json);
    if (!again || *again != *key) std::abort();
  }
  value::KeyDefinition definition;
  (void)cosmos::check_levels(definition, *key, true);
  definition.paths.resize(2);
  (void)cosmos::check_levels(definition, *key, false);
  return 0;
}
