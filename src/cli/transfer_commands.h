// import, export and copy: what they are called. What each takes and does is in a file of its own.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>

#include "cli/admin_client.h"
#include "cli/copy_command.h"
#include "cli/export_command.h"
#include "cli/import_command.h"

namespace orrery::cli {

class TransferCommands {
 public:
  explicit TransferCommands(CLI::App& app);
  TransferCommands(const TransferCommands&) = delete;
  TransferCommands& operator=(const TransferCommands&) = delete;

  // After parsing: the exit code of the command that was named, if it is one of these.
  std::optional<int> run() const;

 private:
  ImportOptions import_;
  ExportOptions export_;
  CopyOptions copy_;
  CLI::App* import_command_ = nullptr;
  CLI::App* export_command_ = nullptr;
  CLI::App* copy_command_ = nullptr;
};

}  // namespace orrery::cli
