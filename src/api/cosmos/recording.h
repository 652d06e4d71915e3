// What the advisor is told of a request of this face (advise/recorder.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "advise/recorder.h"
#include "api/cosmos/call.h"
#include "cluster/routing.h"

namespace orrery::cosmos {

struct Charged {
  double ru = 0;
  size_t ranges = 1;        // that were asked
  uint32_t stands_for = 1;  // requests, this one included
  ItemUpdate update = {};
};

// Of a call that is about to be answered: its body is still there.
void record_call(advise::Recorder& recorder, const Call& call, const cluster::Routing& routing,
                 const Charged& charged);

}  // namespace orrery::cosmos
