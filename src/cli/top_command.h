// `orrery top`: where the load is, now: partitions with what they use of their share, what was
// throttled, and the keys that are asked for most. Live on a terminal; a block for each sample, or
// a line of JSON, anywhere else.
#pragma once

#include <cstdint>

#include "cli/admin_client.h"

namespace orrery::cli {

struct TopOptions {
  double interval_s = 2;
  uint32_t samples = 0;  // then it ends; 0: when it is told to
  uint32_t count = 0;    // partitions shown; 0: what the terminal has room for, else 20
  bool json = false;
};

// Returns the process's exit code. SIGINT and SIGTERM end it with 0.
int top(const ServerAddress& server, const TopOptions& options);

}  // namespace orrery::cli
