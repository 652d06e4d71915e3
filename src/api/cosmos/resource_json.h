// Databases, containers and partition ranges as they are returned to clients.
//
// Pure; any thread may call.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "catalog/model.h"

namespace orrery::cosmos {

std::string database_json(const catalog::Database& database);
std::string container_json(const catalog::Database& database, const catalog::Container& container);

// The newest LSN of a range, when it is known without opening its files.
using LsnOf = std::function<std::optional<uint64_t>(const catalog::PartitionRange&)>;

// {"_rid":…,"PartitionKeyRanges":[…],"_count":n}: all ranges of the container, in order.
std::string pkranges_json(const catalog::Container& container, const LsnOf& lsn_of);

}  // namespace orrery::cosmos
