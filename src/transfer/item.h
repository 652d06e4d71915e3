// An item on its way into a container: checked, without the properties that a server adds, and with
// the key that its target places it by. And when two items say the same. Pure; any thread may call.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "value/document.h"
#include "value/placement.h"

namespace orrery::transfer {

struct PreparedItem {
  std::string id;
  std::string key_json;  // ["Redmond"]; empty: the container has no partition key
  std::string key_hex;   // the effective key, as bounds of ranges are written
  std::string body;      // minified
};

// Why not, in words for the file of rejected records. With a seed, an item without an id gets one
// that is made from the seed: always the same.
Result<PreparedItem> prepare_item(std::string_view json, const value::KeyDefinition& key,
                                  std::string_view id_seed = {});

// What a record is, and so which of its properties a server adds.
enum class RecordKind : uint8_t {
  item,
  entity,  // of a table
};
bool is_system_property(std::string_view name, RecordKind kind = RecordKind::item);
// The object as JSON without the system properties.
std::string without_system_properties(const value::Node& object,
                                      RecordKind kind = RecordKind::item);

// A key as requests carry it: ["Redmond",5], {} for a value that is absent.
std::string key_json_of(const value::PartitionKey& key);

// The same for two items that say the same: without system properties, whatever the order of
// members, white space and the spelling of numbers. Not for adversaries: by Murmur3.
using ContentHash = std::array<uint64_t, 2>;
ContentHash content_hash(const value::Node& item);

}  // namespace orrery::transfer
