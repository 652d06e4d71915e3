// `orrery copy`: a live copy of a container into another one, of the same account or between two.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/transfer_place.h"

namespace orrery::cli {

struct CopyOptions {
  TransferOptions common;
  std::string source;
  std::string target;
  OtherAccount from;
  OtherAccount to;
  CreateOptions create;
  bool follow = false;
  bool no_check = false;
  bool into_filled = false;
};

void add_copy_options(CLI::App& command, CopyOptions& options);
// The process's exit code.
int copy_live(const CopyOptions& options);

}  // namespace orrery::cli
