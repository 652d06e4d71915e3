// Definitions of databases and containers: from the JSON of a create or a replace to what the
// catalog keeps, checked as the vendor checks it. The resources as they are returned are written
// by resource_json.h.
//
// spec.face_json holds the members that only this face understands, as the text between the braces
// of an object: "indexingPolicy":{…},"partitionKey":{…},…  with all defaults written out.
//
// Pure; any thread may call.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "catalog/model.h"
#include "value/json.h"

namespace orrery::cosmos {

inline constexpr size_t kMaxNameCharacters = 255;

// What a container without a partition key is returned with: a key that the system supplies.
inline constexpr std::string_view kFixedKey =
    R"({"paths":["/_partitionKey"],"kind":"Hash","systemKey":true})";

// The id of a database, a container, a user, a script: 1 to 255 characters, none of / \ # ?, no
// space at the end.
Status check_resource_name(std::string_view name);

// The id in a definition, checked.
Result<std::string> parse_name(const value::Node& root);

// The body of POST /dbs: the name. Other members are not kept.
Result<std::string> parse_database_definition(std::string_view body);

// The body of POST or PUT …/colls, and the x-ms-version that it came with.
Result<catalog::ContainerSpec> parse_container_definition(std::string_view body,
                                                          std::string_view protocol_version = {});

// Code::invalid when `updated` changes what is fixed for the life of a container: its id, its
// partition key, its unique keys, how conflicts are resolved, and the vectors it already has.
Status check_replacement(const catalog::ContainerSpec& old, const catalog::ContainerSpec& updated);

}  // namespace orrery::cosmos
