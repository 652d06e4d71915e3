// What `orrery serve` takes, on the command line and in a configuration file.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "cli/serve.h"

namespace orrery::cli {

class ServeCommand {
 public:
  ServeCommand(CLI::App& app, std::string version);
  ServeCommand(const ServeCommand&) = delete;
  ServeCommand& operator=(const ServeCommand&) = delete;

  // After parsing: the exit code, if it was named.
  std::optional<int> run() const;

 private:
  ServeOptions options_;
  CLI::App* command_ = nullptr;
};

}  // namespace orrery::cli
