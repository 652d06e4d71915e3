// What the program's commands and options are, in plain data: read off the parser itself, so that
// whatever is made of it (shell completion, manual pages, the configuration file) cannot lag behind
// the program.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace orrery::cli {

struct OptionText {
  std::string name;  // --data, or the name of an argument without hyphens
  std::string help;
  std::string value;  // what it takes: FOLDER, on|report; empty: a flag, which takes nothing
  std::string default_value;  // empty: none that a text could say
  std::string environment;    // a variable that stands for it; may be empty
  bool is_argument = false;   // by its place, not by a name
  bool is_required = false;

  // The values of one that takes one of a few: those of on|report. Empty for others.
  std::vector<std::string> choices() const;
  bool takes_path() const { return value == "FILE" || value == "FOLDER"; }
};

struct CommandText {
  std::vector<std::string> path;  // {"keys", "list"}; empty for the program itself
  std::string help;
  std::string footer;
  std::vector<OptionText> options;
  std::vector<CommandText> commands;

  std::string name(std::string_view between) const;
};

// Of a command and all below it. Help flags are left out: every command has them.
CommandText describe(const CLI::App& app);

// It and all below it, in the order of the help.
std::vector<const CommandText*> flatten(const CommandText& root);

}  // namespace orrery::cli
