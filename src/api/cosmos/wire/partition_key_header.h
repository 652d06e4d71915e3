// The header x-ms-documentdb-partitionkey: which logical partition a request is about.
//
//   ["Redmond"]  [5]  [true]  [null]     one level
//   ["Redmond","98052"]                  several levels
//   [{}]                                 None: the items that lack the property
//   []                                   none at all: fixed containers
// Clients escape what is not ASCII (\uXXXX), as headers demand.
//
// Pure; any thread may call. On the path of every item request.
#pragma once

#include <string_view>

#include "base/limits.h"
#include "base/result.h"
#include "value/placement.h"

namespace orrery::cosmos {

inline constexpr size_t kMaxKeyHeaderBytes = 16 * 1024;

// Code::invalid with the reason and the offending text.
Result<value::PartitionKey> parse_key_header(std::string_view header);

// Whether each value is within the size limit of a key. Every operation checks the key that it is
// given, wherever it comes from.
Status check_key_values(const value::PartitionKey& key, const Limits& limits);

// Whether the key has as many levels as the container's definition; with `prefix_allowed`, fewer
// will do (queries and feeds over several logical partitions).
Status check_levels(const value::KeyDefinition& definition, const value::PartitionKey& key,
                    bool prefix_allowed);

}  // namespace orrery::cosmos
