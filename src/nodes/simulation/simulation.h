// A cluster of three nodes over a simulated store and network: the code of src/nodes and of the
// object volume, with a toy engine. One seed is one run; the same seed is the same run.
//
// After each step: nobody believes in a lease that is over (I8), epochs only grow and a root has
// one owner for each (I1), no append of an earlier epoch succeeds once a later owner has read (I1).
// At the moments when somebody is told something: what history.h says (I2, I3, I4, I9), every plan
// names somebody for each range, and there is one for each term and version (I6). A copy of the
// catalog that counts as of a moment has every commit that was acknowledged before (I9).
#pragma once

#include <cstdint>
#include <string>

#include "nodes/simulation/fiber.h"
#include "nodes/simulation/world.h"
#include "volume/objects/mutation.h"

namespace orrery::nodes::simulation {

struct RunOptions {
  uint64_t seed = 1;
  Mutation mutation = Mutation::none;
  bool tells = false;  // every step, to standard error
  // It goes on until all nodes should be well again, and every range is to be written then.
  bool recovers = false;
};

struct RunResult {
  std::string failure;  // empty: every invariant held
  Counts counts;
  uint64_t fingerprint = 0;  // of what happened: the same for the same seed
};

RunResult run(const RunOptions& options, Fibers& fibers);

}  // namespace orrery::nodes::simulation
