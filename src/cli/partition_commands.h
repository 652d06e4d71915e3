// `orrery split` and `orrery partitions`: what one does to a running server's partitions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/admin_client.h"

namespace orrery::cli {

// `container` is DB/CONTAINER; with `json` they print what the server answered. Both return the
// process's exit code.
int split(const ServerAddress& server, const std::string& container, std::optional<uint32_t> range,
          bool json);
int partitions(const ServerAddress& server, const std::string& container, bool json);

}  // namespace orrery::cli
