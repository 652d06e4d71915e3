// What must be true of an item for a write to it to be done.
#pragma once

#include "base/result.h"
#include "partition/partition.h"

namespace orrery::partition {

// `current` is the item as it is now; null: it is not there, or has expired. `committed` is
// false for one that the same transaction wrote, whose version nobody can know yet.
Status check_precondition(const Write& write, const Item* current, bool committed);

}  // namespace orrery::partition
