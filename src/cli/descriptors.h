// Divides the process's file descriptors between connections, open partitions, and the files of
// each partition.
#pragma once

#include <cstdint>

#include "base/limits.h"
#include "base/result.h"

namespace orrery::cli {

// Raises the limit of this process as far as the system allows, and returns it.
uint64_t raise_descriptor_limit();

// Lowers `connections`, `open_partitions` and `partition_files` to what `descriptors` allow. True
// if partitions or connections had to be lowered. Code::invalid when it cannot work with so few.
Result<bool> fit_descriptors(uint64_t descriptors, uint32_t event_loops, uint32_t script_workers,
                             Limits& limits);

}  // namespace orrery::cli
