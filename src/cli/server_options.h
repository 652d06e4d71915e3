// The options by which a command finds the server that it speaks to.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/admin_client.h"

namespace orrery::cli {

void add_server_options(CLI::App& command, ServerAddress& address);

}  // namespace orrery::cli
