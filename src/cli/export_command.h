// `orrery export`: a container into files, to standard output or into another account.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/import_command.h"
#include "cli/transfer_place.h"

namespace orrery::cli {

struct ExportOptions {
  TransferOptions common;
  std::string container;
  std::string target;
  OtherAccount to;
  CreateOptions create;
  FileFormatOptions file;
  std::string query;
  std::string mode = "upsert";
  uint64_t part_mb = 256;
  bool keep_system = false;
  bool overwrite = false;
};

void add_export_options(CLI::App& command, ExportOptions& options);
// The process's exit code.
int export_records(const ExportOptions& options);

}  // namespace orrery::cli
