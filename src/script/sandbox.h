// What a worker gives up before it runs anybody's script.
//
// JavaScript itself has no way to files, sockets or processes. This is for a script that breaks out
// of the engine: it finds a process that can compute, use the memory it was granted, and talk to
// its server over one socket.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace orrery::script {

// For good, for all threads of the process. To be called when the threads that are needed are
// there: no more can be made. `memory_bytes` bounds what the process may allocate (not in builds
// with a sanitizer, which allocate for themselves).
Status enter_sandbox(uint64_t memory_bytes);

}  // namespace orrery::script
