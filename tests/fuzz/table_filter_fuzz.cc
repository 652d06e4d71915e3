// $filter from outside: whatever parses can be asked of an entity, and what it matches lies in the
// stretches that are read for it.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "api/table/entities/entity_json.h"
#include "api/table/query/filter.h"
#include "api/table/query/key_ranges.h"
#include "partition/format.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery::table;
  static const std::string stored =
      parse_entity(R"({"PartitionKey":"p","RowKey":"r","n":5,"text":"it's","yes":true,"half":2.5})",
                   nullptr)
          .value()
          .stored;
  static const orrery::value::KeyDefinition key = {
      .placement = orrery::value::Placement::range,
      .paths = {orrery::value::parse_property_path("/PartitionKey").value()}};
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto filter = parse_filter(text);
  if (!filter) {
    require(!filter.error().message.empty());
    return 0;
  }
  if (!matches_entity(*filter, stored)) return 0;
  const std::string item = orrery::partition::item_key(place_partition(key, "p"), "r");
  bool is_read = false;
  for (const Stretch& one : stretches_of(*filter, {}, key)) {
    require(one.from < one.to);
    is_read = is_read || (item >= one.from && item < one.to);
  }
  require(is_read);
  return 0;
}
