// How partitions, queries of the Cosmos DB face and tools read a stored entity: a codec
// (value/codec.h). Timestamp is a member like the others, after the two keys.
#pragma once

#include <memory>
#include <string_view>

#include "value/codec.h"

namespace orrery::table {

// The name that containers have it by.
inline constexpr std::string_view kEntityEncoding = "edm";

std::shared_ptr<const value::Codec> entity_codec();

}  // namespace orrery::table
