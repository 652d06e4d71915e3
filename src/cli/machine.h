// The memory and disk of the machine, or of the container that the program runs in, and the limits
// that follow from them.
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

// Lowers limits for a small disk: it cannot keep a large reserve free, and unflushed data in memory
// must fit into the reserve.
void fit_to_disk(uint64_t disk_bytes, Limits& limits);

}  // namespace orrery::cli
