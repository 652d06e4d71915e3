// Databases, containers, named resources and partition ranges as they are returned to clients.
//
// Pure; any thread may call.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "catalog/model.h"

namespace orrery::cosmos {

std::string database_json(const catalog::Database& database);
std::string container_json(const catalog::Database& database, const catalog::Container& container);
// A user, a permission, a script; its body is members of a JSON object, and so are `links`, which
// come last.
std::string named_resource_json(const catalog::Resource& resource, std::string_view rid,
                                std::string_view self, std::string_view links);

// The newest LSN of a range, when it is known without opening its files.
using LsnOf = std::function<std::optional<uint64_t>(const catalog::PartitionRange&)>;

// {"_rid":…,"PartitionKeyRanges":[…],"_count":n}: all ranges of the container, in order.
std::string pkranges_json(const catalog::Container& container, const LsnOf& lsn_of);

}  // namespace orrery::cosmos
