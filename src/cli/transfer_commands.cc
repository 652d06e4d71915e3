// See transfer_commands.h.
#include "cli/transfer_commands.h"

#include "cli/server_options.h"

namespace orrery::cli {

TransferCommands::TransferCommands(CLI::App& app) {
  import_command_ =
      app.add_subcommand("import", "Write the records of files or of another account");
  add_server_options(*import_command_, import_.common.server);
  add_import_options(*import_command_, import_);

  export_command_ =
      app.add_subcommand("export", "Write a container's items into files or another account");
  add_server_options(*export_command_, export_.common.server);
  add_export_options(*export_command_, export_);

  copy_command_ = app.add_subcommand(
      "copy",
      "Copy a container into another while it is written to, and check that both are equal");
  add_server_options(*copy_command_, copy_.common.server);
  add_copy_options(*copy_command_, copy_);
}

std::optional<int> TransferCommands::run() const {
  if (import_command_->parsed()) return import_records(import_);
  if (export_command_->parsed()) return export_records(export_);
  if (copy_command_->parsed()) return copy_live(copy_);
  return std::nullopt;
}

}  // namespace orrery::cli
