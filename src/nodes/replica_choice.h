// Which members have a read replica of a range. It follows from the plan alone, so that all nodes
// agree, and little changes when a member comes or goes: the members whose name and the range give
// the smallest hashes, without the owner and those that are being drained. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "nodes/seat.h"

namespace orrery::nodes {

// `count`: how many replicas each range is to have. One that the plan does not name has none.
bool has_replica(const Plan& plan, uint32_t count, RangeRef ref, const std::string& member);

}  // namespace orrery::nodes
