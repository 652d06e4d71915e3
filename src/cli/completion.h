// `orrery completion SHELL`: a script that completes orrery's command lines in bash, zsh or fish.
// It stands by itself (bash needs no bash-completion for it) and knows commands, options, and
// values that are one of a few; everything else completes as file names.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/command_tree.h"

namespace orrery::cli {

// `shell` is bash, zsh or fish.
Result<std::string> completion_script(const CommandText& program, std::string_view shell);

}  // namespace orrery::cli
