// `orrery advise`: which partition key a container should have.
#pragma once

#include <optional>
#include <string>

#include "cli/admin_client.h"
#include "cli/import_command.h"

namespace CLI {
class App;
}

namespace orrery::cli {

struct AdviseOptions {
  std::string container;  // DB/CONTAINER, or empty:
  std::string items;      // a file of items; -: standard input
  std::string workload;   // a file of recorded requests
  std::optional<double> throughput;
  std::string horizon = "365d";
  std::optional<double> growth_gb_per_month;
  std::string known;  // paths with commas between them
  std::string partition_key;
  std::string key;  // a key to score besides
  bool json = false;
  std::string svg;
  bool check = false;
  std::string record_to;  // write what the server has recorded, and do nothing else
  bool with_key = false;  // with the secret of its marks
  FileFormatOptions file;
};

void add_advise_options(CLI::App& command, AdviseOptions& options, ServerAddress& server);

// The exit code: 0; 1 usage or connection; 2 bad input; 3 too little known; 4 no key is good; with
// --check 5 when the key should be changed.
int advise(const ServerAddress& server, const AdviseOptions& options);

}  // namespace orrery::cli
