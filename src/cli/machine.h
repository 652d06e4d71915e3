// What the machine, or the container that the program runs in, has to give.
#pragma once

#include <cstdint>
#include <string>

#include "base/limits.h"

namespace orrery::cli {

// Memory that this process may use: the machine's, or what its control group is limited to.
uint64_t usable_memory_bytes();

// Memory for cached reads where nothing else is set: a quarter of what there is, at most 1 GB.
uint64_t default_cache_bytes(uint64_t memory_bytes);

// Memory for large requests, and as much for answers that wait for slow clients: a sixteenth of
// what there is, at least 64 MB.
uint64_t default_buffer_bytes(uint64_t memory_bytes);

// The size of the disk that a folder is on.
uint64_t disk_bytes(const std::string& folder);

// A small disk cannot keep in reserve what a large one does, and what is in memory must fit into
// the reserve when it is flushed.
void fit_to_disk(uint64_t disk_bytes, Limits& limits);

}  // namespace orrery::cli
