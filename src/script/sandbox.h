// What a worker gives up before it runs anybody's script.
//
// JavaScript itself has no way to files, sockets or processes. This is for a script that breaks out
// of the engine: it finds a process that can compute, use the memory it was granted, and talk to
// its server over one socket.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace orrery::script {

// Irreversible, and for all threads of the process. Call it when all threads that are needed exist:
// no more can be made. `memory_bytes` limits what the process may allocate (except in builds with a
// sanitizer, which allocate for themselves).
Status enter_sandbox(uint64_t memory_bytes);

}  // namespace orrery::script
