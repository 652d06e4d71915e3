// orrery cluster …: what an operator looks at and asks for in a cluster. Each speaks to any node,
// as the other commands speak to a server (admin_client.h).
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/admin_client.h"

namespace orrery::cli {

class ClusterCommands {
 public:
  explicit ClusterCommands(CLI::App& app);
  ClusterCommands(const ClusterCommands&) = delete;
  ClusterCommands& operator=(const ClusterCommands&) = delete;

  // After parsing: the exit code of the command that was named, if it is one of these.
  std::optional<int> run() const;

 private:
  ServerAddress server_;
  std::string node_;
  std::string container_;
  uint32_t range_ = 0;
  uint32_t replica_count_ = 0;
  bool json_ = false;
  bool no_wait_ = false;
  CLI::App* status_ = nullptr;
  CLI::App* drain_ = nullptr;
  CLI::App* undrain_ = nullptr;
  CLI::App* move_ = nullptr;
  CLI::App* rebalance_ = nullptr;
  CLI::App* replicas_ = nullptr;
};

}  // namespace orrery::cli
