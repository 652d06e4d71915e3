// How the file descriptors that the process may have are divided: so many for connections, so many
// partitions open at a time, so many files for each of them.
#pragma once

#include <cstdint>

#include "base/limits.h"
#include "base/result.h"

namespace orrery::cli {

// Asks the system for as many as this process can get. Gives how many that is.
uint64_t raise_descriptor_limit();

// Lowers `connections`, `open_partitions` and `partition_files` to what `descriptors` allow. True
// if partitions or connections had to be lowered. Code::invalid when it cannot work with so few.
Result<bool> fit_descriptors(uint64_t descriptors, uint32_t event_loops, uint32_t script_workers,
                             Limits& limits);

}  // namespace orrery::cli
