// See key_commands.h.
#include "cli/key_commands.h"

#include <fmt/format.h>

#include <cstdio>
#include <utility>
#include <vector>

#include "cli/data_folder.h"
#include "cli/server_options.h"
#include "cli/terminal_text.h"
#include "value/json.h"
#include "value/json_quoted.h"

namespace orrery::cli {
namespace {

// By name, in the order given.
void print_keys(const std::vector<std::pair<std::string, std::string>>& keys, bool json) {
  std::string text;
  for (const auto& [name, key] : keys) {
    text += json ? fmt::format("{}{}:{}", text.empty() ? "{" : ",", value::quoted(name),
                               value::quoted(key))
                 : fmt::format("{:<20}{}\n", name, key);
  }
  fmt::print("{}{}", text, json ? "}\n" : "");
}

// From the data folder, which only its owner can read; the server need not run.
int list_keys(const ServerAddress& server, bool json) {
  using enum account::KeyName;
  const auto running = read_running_server(server.data);
  if (running && running->dev) {
    print_keys({{"primary", kEmulatorKey}}, json);
    fmt::print(stderr, "orrery keys: the server runs with --dev: this key is known to everybody\n");
    return 0;
  }
  auto keys = read_keys(server.data);
  if (!keys) return complain("keys", keys.error());
  std::vector<std::pair<std::string, std::string>> all;
  for (const account::KeyName name : {primary, secondary, primary_readonly, secondary_readonly}) {
    all.emplace_back(to_string(name), account::key_of(*keys, name));
  }
  print_keys(all, json);
  return 0;
}

// Asks the running server, which writes the data folder and refuses the old key from then on.
int ask_for_new_key(const ServerAddress& server, const std::string& name, bool json) {
  if (auto known = account::parse_key_name(name); !known) return complain("keys", known.error());
  auto reply =
      call_admin(server, "POST", "/admin/keys/regenerate", fmt::format(R"({{"key":"{}"}})", name));
  if (!reply) return complain("keys", reply.error());
  auto document = value::JsonDocument::parse(*reply);
  const value::Node* value = document ? document->root().find("value") : nullptr;
  if (value == nullptr)
    return complain("keys", Error{Code::internal, "the server's answer has no key"});
  print_keys({{name, std::string(value->text)}}, json);
  return 0;
}

}  // namespace

KeyCommands::KeyCommands(CLI::App& app) {
  CLI::App* keys = app.add_subcommand("keys", "Show the account's keys, or make a new one");
  keys->require_subcommand(1);
  list_ = keys->add_subcommand("list", "Show the keys of a data folder");
  list_->add_option("--data", server_.data, "Data folder of the server [as with other commands]")
      ->type_name("FOLDER");
  list_->add_flag("--json", json_, "Print JSON");
  regenerate_ = keys->add_subcommand(
      "regenerate", "Make a new key in the place of one; the running server takes it at once");
  regenerate_->add_option("key", key_, "Which key")
      ->required()
      ->type_name("primary|secondary|primary-readonly|secondary-readonly");
  regenerate_->add_flag("--json", json_, "Print JSON");
  add_server_options(*regenerate_, server_);

  token_command_ =
      app.add_subcommand("token", "Make a token to test signing in without a key (type=aad)");
  add_token_options(*token_command_, token_);
}

std::optional<int> KeyCommands::run() const {
  if (list_->parsed()) return list_keys(server_, json_);
  if (regenerate_->parsed()) return ask_for_new_key(server_, key_, json_);
  if (token_command_->parsed()) return make_token(token_);
  return std::nullopt;
}

}  // namespace orrery::cli
