// `orrery query`: rows of a query over a container, as a table, as JSON or as CSV.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/admin_client.h"

namespace orrery::cli {

struct QueryOptions {
  std::string container;                // DB/CONTAINER
  std::string text;                     // -: from standard input
  std::string format;                   // table, json, csv; empty: table on a terminal, else json
  std::vector<std::string> parameters;  // NAME=VALUE; the value is JSON, or else a text
  std::string key;                      // of one partition: JSON, or else a text
  uint64_t count = 0;                   // rows at most; 0: all
};

// Returns the process's exit code.
int query(const ServerAddress& server, const QueryOptions& options);

}  // namespace orrery::cli
