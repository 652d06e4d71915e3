// `orrery split`, `merge`, `partitions` and `advise`: how a container's items are spread, and what
// one does about it.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/admin_client.h"
#include "cli/advise_command.h"

namespace orrery::cli {

class PartitionCommands {
 public:
  explicit PartitionCommands(CLI::App& app);
  PartitionCommands(const PartitionCommands&) = delete;
  PartitionCommands& operator=(const PartitionCommands&) = delete;

  // After parsing: the exit code of the command that was named, if it is one of these.
  std::optional<int> run() const;

 private:
  ServerAddress server_;
  std::string container_;
  std::optional<uint32_t> range_;
  std::vector<uint32_t> merged_;
  bool json_ = false;
  AdviseOptions advise_;
  CLI::App* split_command_ = nullptr;
  CLI::App* merge_command_ = nullptr;
  CLI::App* partitions_command_ = nullptr;
  CLI::App* advise_command_ = nullptr;
};

}  // namespace orrery::cli
