// `orrery ls`: databases, the containers of one, or items of a container.
#pragma once

#include <cstdint>
#include <string>

#include "cli/admin_client.h"

namespace orrery::cli {

struct ListOptions {
  std::string what;      // empty, DB or DB/CONTAINER
  uint32_t count = 100;  // of items
  bool json = false;
};

// Returns the process's exit code.
int list(const ServerAddress& server, const ListOptions& options);

}  // namespace orrery::cli
