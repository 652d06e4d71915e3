// A cluster of three nodes over a simulated store and network: the code of src/nodes and of the
// object volume, with a toy engine. One seed is one run; the same seed is the same run.
//
// After each step: nobody believes in a lease that is over (I8), epochs only grow and a root has
// one owner for each (I1), no append of an earlier epoch succeeds once a later owner has read (I1).
// At the moments when somebody is told something: what history.h says (I2, I3, I4, I9), every plan
// names somebody for each range, and there is one for each term and version (I6). A copy of the
// catalog that counts as of a moment has every commit that was acknowledged before (I9).
//
// A run with a fault has nothing else that goes wrong, and the times of production. It tells for
// how long a range was not served.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "nodes/seat.h"
#include "nodes/simulation/fiber.h"
#include "nodes/simulation/world.h"
#include "volume/objects/mutation.h"

namespace orrery::nodes::simulation {

enum class Fault : uint8_t { crash, hang, cut_from_nodes, cut_from_store };

struct FaultOptions {
  Fault fault = Fault::crash;
  bool of_coordinator = false;  // otherwise of another node that serves something
  // What claiming is followed by in production: reading files and logs. Some part of it is drawn.
  int64_t open_us_max = 0;
};

struct RunOptions {
  uint64_t seed = 1;
  Mutation mutation = Mutation::none;
  bool tells = false;  // every step, to standard error
  // It goes on until all nodes should be well again, and every range is to be written then.
  bool recovers = false;
  std::optional<FaultOptions> fault = std::nullopt;
  double splits = 0.02;  // of what clients do with partitions
};

struct RunResult {
  std::string failure;  // empty: every invariant held
  Counts counts;
  // With a fault: for how long the range that had to wait longest was not served.
  int64_t unserved_us = 0;
  RangeRef unserved;
  uint64_t fingerprint = 0;  // of what happened: the same for the same seed
};

RunResult run(const RunOptions& options, Fibers& fibers);

}  // namespace orrery::nodes::simulation
