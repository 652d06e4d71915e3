// Removes what processes that ended in the middle of something left in an object volume.
//
// Each kind of garbage is told by facts that nothing can change back:
//  - A root that the index does not name, and whose maker's lease is over. (A root is made before
//    the index names it.)
//  - A token of a root that is gone; or of an epoch that is over, when the root has no entry with
//    the token. (A token is added before the entry, by the owner of that epoch alone.)
//  - A first stripe without tokens. (Whoever removed the last one was to remove the stripes.)
//  - A later stripe whose first one is gone.
//  - An extent of a log of a root that is gone; or of an epoch that is over, when the root has no
//    entry with it.
//  - A lease that is over, of an incarnation that owns no root.
// Whatever cannot be read ends the sweep: an error is no answer.
//
// Objects are listed first, and roots are read after that. So what is made meanwhile is either not
// in the list, or its root names it. Any number of sweeps may run at once, beside all other work.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "volume/objects/object_store.h"

namespace orrery::volume {

struct SweepReport {
  uint64_t listed = 0;
  uint64_t roots = 0;
  uint64_t tokens = 0;
  uint64_t objects = 0;  // stripes and extents
  uint64_t leases = 0;
};

Result<SweepReport> sweep(ObjectStore& store);

}  // namespace orrery::volume
