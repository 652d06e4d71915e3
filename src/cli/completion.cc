// See completion.h. Names of commands and options are words of lower-case letters and hyphens; only
// help texts need quoting.
#include "cli/completion.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::cli {
namespace {

std::string joined(const std::vector<std::string>& words, std::string_view between = " ") {
  return fmt::format("{}", fmt::join(words, between));
}

// The first sentence, without what follows a semicolon: a shell shows one line.
std::string short_help(const std::string& help) {
  return help.substr(0, std::min(help.find("; "), help.find(". ")));
}

std::string escaped(std::string_view text, std::string_view characters, std::string_view with) {
  std::string out;
  for (const char c : text) {
    if (characters.find(c) != std::string_view::npos) out += with;
    out += c;
  }
  return out;
}

// In single quotes, for zsh's and bash's reading.
std::string single_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::vector<std::string> names_of(const std::vector<CommandText>& commands) {
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const CommandText& command : commands) names.push_back(command.path.back());
  return names;
}

std::string bash_script(const CommandText& program) {
  std::string words_of;
  std::string values_of;
  std::string below_of;
  for (const CommandText* command : flatten(program)) {
    std::vector<std::string> words = names_of(command->commands);
    for (const std::string& name : names_of(command->commands)) {
      below_of += fmt::format("      '{}{}{}') command+='{}{}' ;;\n", command->name(" "),
                              command->path.empty() ? "" : " ", name,
                              command->path.empty() ? "" : " ", name);
    }
    for (const OptionText& option : command->options) {
      if (option.is_argument) {
        for (std::string& choice : option.choices()) words.push_back(std::move(choice));
        continue;
      }
      words.push_back(option.name);
      const std::string value = option.takes_path() ? "" : joined(option.choices());
      if (!option.value.empty()) {
        values_of +=
            fmt::format("    '{} {}') words='{}' ;;\n", command->name(" "), option.name, value);
      }
    }
    words.emplace_back("--help");
    words_of += fmt::format("    '{}') words='{}' ;;\n", command->name(" "), joined(words));
  }
  return fmt::format(R"(# Completion of orrery for bash, made by `orrery completion bash`.
_orrery() {{
  local command='' words='' i word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$command${{command:+ }}${{COMP_WORDS[i]}}" in
{}    esac
  done
  case "$command $before" in
{}    *)
      case $command in
{}      esac
      ;;
  esac
  # Without a word of ours bash goes on to file names.
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}}
complete -o default -F _orrery orrery
)",
                     below_of, values_of, words_of);
}

std::string zsh_value(const OptionText& option) {
  if (option.takes_path()) return option.value == "FOLDER" ? ":folder:_files -/" : ":file:_files";
  const std::vector<std::string> choices = option.choices();
  if (!choices.empty()) return fmt::format(":value:({})", joined(choices));
  return fmt::format(":{}:", escaped(option.value, ":", "\\"));
}

std::string zsh_script(const CommandText& program) {
  std::string functions;
  for (const CommandText* command : flatten(program)) {
    std::string arguments;
    for (const OptionText& option : command->options) {
      const std::string help = escaped(short_help(option.help), "[]:\\", "\\");
      std::string spec;
      if (option.is_argument) {
        const auto choices = option.choices();
        spec = choices.empty() ? fmt::format(":{}:", option.name)
                               : fmt::format(":{}:({})", option.name, joined(choices));
      } else {
        spec = fmt::format("*{}[{}]{}", option.name, help,
                           option.value.empty() ? "" : zsh_value(option));
      }
      arguments += fmt::format(" \\\n    {}", single_quoted(spec));
    }
    const std::string function =
        fmt::format("_orrery{}{}", command->path.empty() ? "" : "_", command->name("_"));
    if (command->commands.empty()) {
      functions +=
          fmt::format("{}() {{\n  _arguments '--help[Show help]'{}\n}}\n", function, arguments);
      continue;
    }
    std::string described;
    std::string cases;
    for (const CommandText& one : command->commands) {
      described +=
          " " + single_quoted(one.path.back() + ":" + escaped(short_help(one.help), ":\\", "\\"));
      cases += fmt::format("        {}) _orrery_{} ;;\n", one.path.back(), one.name("_"));
    }
    functions += fmt::format(R"({}() {{
  local state commands
  local -a line
  commands=({})
  _arguments -C '--help[Show help]'{} \
    '1: :->command' '*:: :->rest'
  case $state in
    command) _describe command commands ;;
    rest)
      case $line[1] in
{}      esac
      ;;
  esac
}}
)",
                             function, described, arguments, cases);
  }
  return fmt::format(R"(#compdef orrery
# Completion of orrery for zsh, made by `orrery completion zsh`.
{}
# Installed as a function of its own, or sourced.
if [ "$funcstack[1]" = "_orrery" ]; then
  _orrery "$@"
else
  compdef _orrery orrery
fi
)",
                     functions);
}

std::string fish_script(const CommandText& program) {
  std::string lines;
  for (const CommandText* command : flatten(program)) {
    // The command has been named, and none below it.
    std::string when = command->path.empty() ? "not __fish_seen_subcommand_from " +
                                                   joined(names_of(command->commands))
                                             : "";
    for (const std::string& word : command->path) {
      when += fmt::format("{}__fish_seen_subcommand_from {}", when.empty() ? "" : "; and ", word);
    }
    if (!command->path.empty() && !command->commands.empty()) {
      when += "; and not __fish_seen_subcommand_from " + joined(names_of(command->commands));
    }
    const auto line = [&](const std::string& what, const std::string& help) {
      lines += fmt::format("complete -c orrery -n '{}' {} -d '{}'\n", when, what,
                           escaped(short_help(help), "'\\", "\\"));
    };
    for (const CommandText& one : command->commands) line("-f -a " + one.path.back(), one.help);
    for (const OptionText& option : command->options) {
      const std::string choices = joined(option.choices());
      if (option.is_argument) {
        if (!choices.empty()) line(fmt::format("-f -a '{}'", choices), option.help);
        continue;
      }
      std::string what = "-l " + option.name.substr(2);
      if (!option.value.empty()) what += option.takes_path() ? " -r" : " -x";
      if (!choices.empty()) what += fmt::format(" -a '{}'", choices);
      line(what, option.help);
    }
    line("-l help", "Show help");
  }
  return "# Completion of orrery for fish, made by `orrery completion fish`.\n" + lines;
}

}  // namespace

Result<std::string> completion_script(const CommandText& program, std::string_view shell) {
  if (shell == "bash") return bash_script(program);
  if (shell == "zsh") return zsh_script(program);
  if (shell == "fish") return fish_script(program);
  return fail(Code::invalid, fmt::format("'{}' is not one of bash, zsh, fish", shell));
}

}  // namespace orrery::cli
