// The key range of a feed or a query, from the headers of the request: a partition key (or a prefix
// of its levels), a partition key range, a range of effective partition keys, or all keys.
//
// Pure; any thread may call.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "api/cosmos/wire/error_body.h"
#include "api/cosmos/wire/request_headers.h"
#include "base/limits.h"
#include "base/result.h"
#include "catalog/model.h"
#include "cluster/query/container_query.h"

namespace orrery::cosmos {

using cluster::KeyBounds;

// What a range that was split or merged means: an error, so that the client continues with its
// children, or the keys that it had.
enum class GoneRange : uint8_t { refuse, its_keys };
// Nothing: there is no such range.
std::optional<KeyBounds> range_bounds(const catalog::PartitionMap& map, uint32_t id,
                                      GoneRange gone);

std::expected<KeyBounds, Refusal> bounds_of(const RequestHeaders& headers,
                                            const catalog::Container& container,
                                            const Limits& limits,
                                            GoneRange gone = GoneRange::refuse);

}  // namespace orrery::cosmos
