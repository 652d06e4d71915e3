// See reference.h.
#include "cli/reference.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/limits.h"
#include "cli/data_folder.h"

namespace orrery::cli {
namespace {

// Text for roff: hyphens that stay hyphens, and no line that begins like a request.
std::string roff(std::string_view text) {
  std::string out;
  bool at_line_start = true;
  for (const char c : text) {
    if (at_line_start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '-') {
      out += "\\-";
    } else if (c == '\\') {
      out += "\\e";
    } else {
      out += c;
    }
    at_line_start = c == '\n';
  }
  return out;
}

std::string head(std::string_view name, int section, std::string_view version) {
  return fmt::format(".\\\" Made by `orrery reference {}.{}`.\n.TH {} {} \"\" \"orrery {}\"\n",
                     name, section, roff(name), section, roff(version));
}

// What a default in brackets, or a variable, adds to an option's help.
std::string with_default(const OptionText& option) {
  std::string help = option.help;
  if (!option.default_value.empty()) help += fmt::format(" [{}]", option.default_value);
  return help;
}

std::string synopsis(const CommandText& command) {
  std::string line = fmt::format(".B orrery {}\n", roff(command.name(" ")));
  for (const OptionText& option : command.options) {
    if (!option.is_argument) continue;
    line += option.is_required ? fmt::format(".I {}\n", roff(option.value))
                               : fmt::format(".RI [ {} ]\n", roff(option.value));
  }
  return line + ".RI [ options ]\n";
}

std::string program_page(const CommandText& program, std::string_view version) {
  std::string page = head("orrery", 1, version);
  page += ".SH NAME\norrery \\- an elastic, partitioned document database\n.SH SYNOPSIS\n";
  const auto all = flatten(program);
  bool is_first = true;
  for (const CommandText* command : all) {
    if (!command->commands.empty()) continue;
    page += (is_first ? "" : ".br\n") + synopsis(*command);
    is_first = false;
  }
  page += fmt::format(".SH DESCRIPTION\n{}\n.SH COMMANDS\n", roff(program.help));
  for (const CommandText* command : all) {
    if (!command->commands.empty()) continue;
    page += fmt::format(".SS orrery {}\n{}.\n", roff(command->name(" ")), roff(command->help));
    for (const OptionText& option : command->options) {
      page +=
          fmt::format(".TP\n.BI \"{} \" \"{}\"\n{}.\n", roff(option.is_argument ? "" : option.name),
                      roff(option.value), roff(with_default(option)));
    }
    // The limits, which are serve's, have a page of their own.
    if (command->footer.find("\n ") == std::string::npos && !command->footer.empty()) {
      page += ".PP\n" + roff(command->footer) + "\n";
    }
  }
  page += R"(.SH ENVIRONMENT
.TP
.B ORRERY_KEY
The key of the account, instead of
.BR \-\-key ,
which others on the machine can see.
.SH EXIT STATUS
0 if all is well, 1 if something could not be done, 2 if a setting is wrong, above 100 if the command line cannot be
read.
.SH FILES
.TP
.I /etc/orrery/orrery.conf
Settings of the server that the package runs.
.TP
.I /var/lib/orrery
Its data folder.
.SH SEE ALSO
.BR orrery.conf (5)
)";
  return page;
}

const CommandText* find_serve(const CommandText& program) {
  const auto serve = std::ranges::find_if(
      program.commands, [](const CommandText& one) { return one.path.back() == "serve"; });
  return serve == program.commands.end() ? nullptr : &*serve;
}

bool is_setting(const OptionText& option) {
  return option.name != "--limit" && !option.is_argument;
}

std::string settings_page(const CommandText& serve, std::string_view version) {
  std::string page = head("orrery.conf", 5, version);
  page += fmt::format(R"(.SH NAME
orrery.conf \- settings of the Orrery server
.SH DESCRIPTION
One
.I NAME = VALUE
a line; # and ; start a comment. The names are those of the options of
.BR "orrery serve" ,
and an option given there wins. A section
.I [NAME]
stands for
.I NAME\-
before the names in it. An unknown name or a bad value is an error.
.SH SETTINGS
)");
  for (const OptionText& option : serve.options) {
    if (!is_setting(option)) continue;
    page += fmt::format(".TP\n.BR {} \" = {}\"\n{}.\n", roff(option.name.substr(2)),
                        roff(option.value.empty() ? "true|false" : option.value),
                        roff(with_default(option)));
  }
  page += R"(.SH LIMITS
.I limit = NAME=VALUE
sets one of these, and may be repeated. A value is a whole number; K, M and G after it multiply by 1,024, its square
and its cube. Some are fitted to the machine's memory, disk and open files unless they are set.
)";
  for (const auto& limit : Limits().list()) {
    page += fmt::format(".TP\n.B {}\n{} [{}].\n", roff(limit.name), roff(limit.help), limit.value);
  }
  page += ".SH SEE ALSO\n.BR orrery (1)\n";
  return page;
}

// Text as comment lines of at most 100 characters.
std::string comment(std::string_view text) {
  constexpr size_t kWidth = 100;
  std::string out;
  std::string line = "#";
  while (!text.empty()) {
    const size_t space = std::min(text.find(' '), text.size());
    if (line.size() > 1 && line.size() + 1 + space > kWidth) {
      out += line + "\n";
      line = "#";
    }
    line += fmt::format(" {}", text.substr(0, space));
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return out + line + "\n";
}

std::string settings_file(const CommandText& serve) {
  std::string file =
      "# Settings of the Orrery server: one NAME = VALUE a line. Lines that begin with #name are "
      "off, and\n"
      "# show the default, or what kind of value there could be. After a change: systemctl restart "
      "orrery.\n"
      "# See orrery.conf(5).\n";
  for (const OptionText& option : serve.options) {
    if (!is_setting(option)) continue;
    file += "\n" + comment(option.help + ".");
    const std::string name = option.name.substr(2);
    if (name == "data") {
      file += fmt::format("data = {}\n", kInstalledDataFolder);
    } else if (option.value.empty()) {
      file += fmt::format("#{} = false\n", name);
    } else {
      file += fmt::format("#{} = {}\n", name,
                          option.default_value.empty() ? option.value : option.default_value);
    }
  }
  file +=
      "\n# Limits, one a line, as often as needed. K, M and G may follow a number. Some are fitted "
      "to the machine's\n"
      "# memory, disk and open files unless they are set here.\n";
  for (const auto& limit : Limits().list()) {
    file += "\n" + comment(fmt::format("{}.", limit.help));
    file += fmt::format("#limit = {}={}\n", limit.name, limit.value);
  }
  return file;
}

}  // namespace

Result<std::string> reference_file(const CommandText& program, std::string_view file,
                                   std::string_view version) {
  const CommandText* serve = find_serve(program);
  if (file == "orrery.1") return program_page(program, version);
  if (file == "orrery.conf.5" && serve != nullptr) return settings_page(*serve, version);
  if (file == "orrery.conf" && serve != nullptr) return settings_file(*serve);
  return fail(Code::invalid,
              fmt::format("'{}' is not one of orrery.1, orrery.conf.5, orrery.conf", file));
}

}  // namespace orrery::cli
