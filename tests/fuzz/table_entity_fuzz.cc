// Entities from outside, as JSON; and stored bodies, whatever their bytes. What is accepted is
// shown as JSON that is accepted again, and reads back as the same.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "api/table/entities/entity_codec.h"
#include "api/table/entities/entity_json.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery::table;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)entity_codec()->parse(text);
  std::string ignored;
  (void)append_entity_json(
      ignored, text, {.level = Metadata::full, .select = {}, .base = "b", .table = "t"}, true);
  (void)merge_entities(text, text);
  auto entity = parse_entity(text, nullptr);
  if (!entity) return 0;
  require(entity_codec()->parse(entity->stored).has_value());
  std::string json;
  require(append_entity_json(json, entity->stored,
                             {.level = Metadata::minimal, .select = {}, .base = "b", .table = "t"},
                             false)
              .has_value());
  auto again = parse_entity(json, nullptr);
  require(again && again->stored == entity->stored);
  return 0;
}
