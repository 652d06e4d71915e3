// Definitions of containers, and the bodies of offers: what is accepted and kept is accepted again
// as it was kept.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api/cosmos/resources/container_definition.h"
#include "api/cosmos/resources/offer_document.h"
#include "value/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery;
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  (void)cosmos::parse_database_definition(body);
  (void)cosmos::parse_offer_replacement(body);
  (void)cosmos::parse_throughput_headers("", body);
  const auto spec = cosmos::parse_container_definition(body);
  if (!spec) return 0;
  std::string kept = "{\"id\":";
  value::append_json_string(kept, spec->name);
  kept += "," + spec->face_json + "}";
  const auto again = cosmos::parse_container_definition(kept);
  if (!again || again->face_json != spec->face_json || again->name != spec->name) std::abort();
  if (!cosmos::check_replacement(*spec, *again)) std::abort();
  return 0;
}
