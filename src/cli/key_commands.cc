// See key_commands.h.
#include "cli/key_commands.h"

#include <fmt/format.h>

#include <cstdio>

#include "cli/data_folder.h"
#include "value/json.h"

namespace orrery::cli {
namespace {

int complain(const Error& error) {
  fmt::print(stderr, "orrery keys: {}\n", error.message);
  return 1;
}

}  // namespace

int list_keys(const ServerAddress& server) {
  using enum account::KeyName;
  const auto running = read_running_server(server.data);
  if (running && running->dev) {
    fmt::print("{:<20}{}\n", "primary", kEmulatorKey);
    fmt::print(stderr, "orrery keys: the server runs with --dev: this key is known to everybody\n");
    return 0;
  }
  auto keys = read_keys(server.data);
  if (!keys) return complain(keys.error());
  for (const account::KeyName name : {primary, secondary, primary_readonly, secondary_readonly}) {
    fmt::print("{:<20}{}\n", to_string(name), account::key_of(*keys, name));
  }
  return 0;
}

int regenerate_key(const ServerAddress& server, const std::string& name) {
  if (auto known = account::parse_key_name(name); !known) return complain(known.error());
  auto reply =
      call_admin(server, "POST", "/admin/keys/regenerate", fmt::format(R"({{"key":"{}"}})", name));
  if (!reply) return complain(reply.error());
  auto document = value::JsonDocument::parse(*reply);
  const value::Node* value = document ? document->root().find("value") : nullptr;
  if (value == nullptr) return complain({Code::internal, "the server's answer has no key"});
  fmt::print("{:<20}{}\n", name, value->text);
  return 0;
}

}  // namespace orrery::cli
