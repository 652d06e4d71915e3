// The record that a partition begins with which was merged of two neighbours. Pure.
//
// Each of the two has given LSNs of its own, so one LSN can have been given by both. The merged one
// goes on after the larger, and keeps what depends on the lines before: how far back the history of
// each goes, and that times are in no order up to there.
#pragma once

#include <cstdint>

#include "partition/format.h"

namespace orrery::partition {

// `left` ends where `right` begins. `keeps_history`: whether the container does, as far as the
// caller knows.
PartitionRecord merged_record(const PartitionRecord& left, const PartitionRecord& right,
                              uint32_t range, bool keeps_history);

}  // namespace orrery::partition
