// Databases, containers and partition ranges as they are returned to clients.
//
// Pure; any thread may call.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "catalog/model.h"

namespace orrery::cosmos {

std::string database_json(const catalog::Database& database);
std::string container_json(const catalog::Database& database, const catalog::Container& container);

// {"_rid":…,"PartitionKeyRanges":[…],"_count":n}: all ranges of the container, in order.
std::string pkranges_json(const catalog::Container& container,
                          const std::function<uint64_t(const catalog::PartitionRange&)>& lsn_of);

}  // namespace orrery::cosmos
