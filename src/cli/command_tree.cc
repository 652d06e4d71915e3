// See command_tree.h.
#include "cli/command_tree.h"

#include <algorithm>

namespace orrery::cli {
namespace {

OptionText describe_option(const CLI::Option& option) {
  OptionText text;
  text.is_argument = option.get_positional() && option.get_lnames().empty();
  text.name = text.is_argument ? option.get_name(true) : "--" + option.get_lnames().front();
  text.help = option.get_description();
  if (option.get_items_expected_max() > 0) text.value = option.get_type_name();
  text.default_value = option.get_default_str();
  text.environment = option.get_envname();
  text.is_required = option.get_required();
  return text;
}

CommandText describe_below(const CLI::App& app, std::vector<std::string> path) {
  CommandText text;
  text.help = app.get_description();
  text.footer = app.get_footer();
  for (const CLI::Option* option : app.get_options({})) {
    if (option == app.get_help_ptr() || option->get_group().empty()) continue;
    text.options.push_back(describe_option(*option));
  }
  // A filter, so that it is all of them and not those of this command line.
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_group().empty()) continue;
    std::vector<std::string> below = path;
    below.push_back(command->get_name());
    text.commands.push_back(describe_below(*command, std::move(below)));
  }
  text.path = std::move(path);
  return text;
}

void flatten_into(const CommandText& root, std::vector<const CommandText*>& all) {
  all.push_back(&root);
  for (const CommandText& command : root.commands) flatten_into(command, all);
}

}  // namespace

std::vector<std::string> OptionText::choices() const {
  std::vector<std::string> each;
  if (value.find('|') == std::string::npos) return each;
  for (size_t begin = 0; begin <= value.size();) {
    const size_t bar = std::min(value.find('|', begin), value.size());
    std::string choice = value.substr(begin, bar - begin);
    // A word in capitals stands for something else: RU|auto:MAX is not a choice.
    if (std::ranges::none_of(choice, [](char c) { return c >= 'a' && c <= 'z'; })) return {};
    each.push_back(std::move(choice));
    begin = bar + 1;
  }
  return each;
}

std::string CommandText::name(std::string_view between) const {
  std::string joined;
  for (const std::string& word : path) {
    if (!joined.empty()) joined += between;
    joined += word;
  }
  return joined;
}

CommandText describe(const CLI::App& app) {
  return describe_below(app, {});
}

std::vector<const CommandText*> flatten(const CommandText& root) {
  std::vector<const CommandText*> all;
  flatten_into(root, all);
  return all;
}

}  // namespace orrery::cli
