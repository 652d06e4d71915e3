// Entities as clients send and read them: JSON with a type beside each property that JSON cannot
// tell by itself.
//   {"PartitionKey":"a","RowKey":"1","n@odata.type":"Edm.Int64","n":"9007199254740993"}
//
// Pure; any thread may call. On the path of every request.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "api/table/entities/entity.h"
#include "api/table/service/table_error.h"
#include "api/table/wire/request_options.h"

namespace orrery::table {

inline constexpr size_t kPropertiesMax = 255;  // with the two keys and the timestamp
inline constexpr size_t kEntityBytesMax = 1U << 20;
inline constexpr size_t kPropertyBytesMax = 64U << 10;
inline constexpr size_t kKeyUnitsMax = 1024;  // UTF-16
inline constexpr size_t kNameUnitsMax = 255;

// An entity as sent, checked and in its stored form.
struct IncomingEntity {
  std::string partition_key;
  std::string row_key;
  std::string stored;
};

// Keys that an address names; the body may repeat them, and must not contradict.
struct NamedKeys {
  std::string_view partition_key;
  std::string_view row_key;
};
// `named`: null when the keys are in the body (an insert).
TableResult<IncomingEntity> parse_entity(std::string_view json, const NamedKeys* named);

// No / \ # ?, no control characters, and not too long.
TableStatus check_key(std::string_view name, std::string_view key);

// The stored entity with the properties of `changes` (an entity, too) in place of its own.
TableResult<std::string> merge_entities(std::string_view stored, std::string_view changes);

// What entities are shown with.
struct EntityShape {
  Metadata level = Metadata::minimal;
  std::span<const std::string> select;  // empty: all
  std::string_view base;                // http://host/account
  std::string_view table;
};

// Appends the entity. `is_alone`: not one of a list; it names its own metadata.
// Code::corrupt when it is not an entity.
Status append_entity_json(std::string& out, std::string_view stored, const EntityShape& shape,
                          bool is_alone);

// PartitionKey='a''b',RowKey='1', percent-encoded: in links.
void append_key_predicate(std::string& out, std::string_view partition_key,
                          std::string_view row_key);

}  // namespace orrery::table
