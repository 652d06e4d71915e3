// `orrery keys` and `orrery token`: what proves to a server who one is.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "cli/admin_client.h"
#include "cli/token_command.h"

namespace orrery::cli {

class KeyCommands {
 public:
  explicit KeyCommands(CLI::App& app);
  KeyCommands(const KeyCommands&) = delete;
  KeyCommands& operator=(const KeyCommands&) = delete;

  // After parsing: the exit code of the command that was named, if it is one of these.
  std::optional<int> run() const;

 private:
  ServerAddress server_;
  std::string key_;
  bool json_ = false;
  TokenOptions token_;
  CLI::App* list_ = nullptr;
  CLI::App* regenerate_ = nullptr;
  CLI::App* token_command_ = nullptr;
};

}  // namespace orrery::cli
