// `orrery scale`: the throughput of a container, or of a database whose containers share it.
#pragma once

#include <string>

#include "cli/admin_client.h"

namespace orrery::cli {

struct ScaleOptions {
  std::string what;        // DB/CONTAINER or DB
  std::string throughput;  // 400, or auto:4000; empty: only shows what it is
  bool wait = false;       // until partitions were split as far as that takes
  bool json = false;
};

// Returns the process's exit code.
int scale(const ServerAddress& server, const ScaleOptions& options);

}  // namespace orrery::cli
