// See document_key.h.
#include "api/mongo/documents/document_key.h"

#include <fmt/format.h>
#include <openssl/rand.h>

#include <atomic>
#include <utility>

#include "api/mongo/match/bounds.h"
#include "base/bytes.h"
#include "value/placement.h"
#include "value/term_value.h"

namespace orrery::mongo {
namespace {

using value::Type;
using value::Value;

// What placement does not know by itself is placed by its bytes in an index.
value::KeyPart part_of(const Value& value) {
  value::KeyPart part;
  part.type = value.type();
  switch (value.type()) {
    case Type::undefined:
    case Type::null:
      break;
    case Type::boolean:
      part.boolean = value.boolean();
      break;
    case Type::number:
      part.number = value.number();
      break;
    case Type::string:
      part.text = value.text();
      break;
    default:
      part.type = Type::string;
      append_term_value(part.text, value, value::ValueOrder::typed);
  }
  return part;
}

uint64_t random_number() {
  uint64_t number = 0;
  RAND_bytes(reinterpret_cast<unsigned char*>(&number), sizeof(number));
  return number;
}

}  // namespace

std::string row_of(const Value& id) {
  std::string row;
  append_term_value(row, id, value::ValueOrder::typed);
  return row;
}

bool can_be_row(const Value& id) {
  return !id.is_undefined() && !id.is_array() && id.type() != Type::regex;
}

Answer<void> check_id(const Value& id) {
  switch (id.type()) {
    case Type::array:
      return refuse(kInvalidIdField, "The '_id' value cannot be of type array");
    case Type::regex:
      return refuse(kInvalidIdField, "The '_id' value cannot be of type regex");
    case Type::object:
      for (const Value::Member& member : id.members()) {
        if (member.name.starts_with('$')) {
          return refuse(kDollarPrefixedFieldName,
                        fmt::format("_id fields may not contain '$'-prefixed fields: {} is not "
                                    "valid for storage.",
                                    member.name));
        }
      }
      return {};
    default:
      return {};
  }
}

Value find_path(const Value& document, std::string_view dotted) {
  Value at = document;
  for (;;) {
    const size_t dot = dotted.find('.');
    at = at.find(dotted.substr(0, dot));
    if (dot == std::string_view::npos || at.is_undefined()) return at;
    dotted.remove_prefix(dot + 1);
  }
}

Answer<std::string> placement_of(const cluster::Routing& routing, const Value& document) {
  const Definition& definition = definition_of(routing);
  if (!definition.is_sharded()) return definition.placement;
  value::PartitionKey key;
  for (const Value::Member& member : definition.shard_key.members()) {
    const Value value = find_path(document, member.name);
    if (value.is_undefined()) {
      return refuse(kShardKeyNotFound,
                    fmt::format("document does not contain the shard key field '{}' of collection "
                                "{}.{}",
                                member.name, routing.database->name, routing.container->spec.name));
    }
    if (value.is_array()) {
      return refuse(kShardKeyNotFound,
                    fmt::format("shard key field '{}' cannot be an array", member.name));
    }
    key.push_back(part_of(value));
  }
  return place(routing.container->spec.key, key);
}

std::optional<std::string> placement_of_filter(const cluster::Routing& routing,
                                               const Value& filter) {
  const Definition& definition = definition_of(routing);
  if (!definition.is_sharded()) return definition.placement;
  value::PartitionKey key;
  for (const Value::Member& member : definition.shard_key.members()) {
    const auto value = equality_of(filter, member.name);
    // Null stands for what is missing, too.
    if (!value || value->is_null() || value->is_array() || value->is_undefined()) {
      return std::nullopt;
    }
    key.push_back(part_of(*value));
  }
  return place(routing.container->spec.key, key);
}

std::string make_object_id(int64_t now_ms) {
  static const uint64_t process = random_number();
  static std::atomic<uint32_t> counter{static_cast<uint32_t>(random_number())};
  std::string bytes(12, '\0');
  store_u32_be(bytes.data(), static_cast<uint32_t>(now_ms / 1000));
  store_u32_be(bytes.data() + 4, static_cast<uint32_t>(process));
  bytes[8] = static_cast<char>(process >> 32);
  const uint32_t count = counter.fetch_add(1, std::memory_order_relaxed);
  bytes[9] = static_cast<char>(count >> 16);
  bytes[10] = static_cast<char>(count >> 8);
  bytes[11] = static_cast<char>(count);
  return bytes;
}

}  // namespace orrery::mongo
