// `orrery keys`: the account's keys.
#pragma once

#include <string>

#include "cli/admin_client.h"

namespace orrery::cli {

// Both return the process's exit code.

// From the data folder, which only its owner can read; the server need not run.
int list_keys(const ServerAddress& server, bool json);
// Asks the running server, which writes the data folder and refuses the old key from then on.
int regenerate_key(const ServerAddress& server, const std::string& name, bool json);

}  // namespace orrery::cli
