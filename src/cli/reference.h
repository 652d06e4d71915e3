// `orrery reference FILE`: the files of an installation that describe the program, made from the
// program itself: its manual pages, and a configuration file with every setting and limit
// explained.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/command_tree.h"

namespace orrery::cli {

// `file` is orrery.1, orrery.conf.5 or orrery.conf.
Result<std::string> reference_file(const CommandText& program, std::string_view file,
                                   std::string_view version);

}  // namespace orrery::cli
