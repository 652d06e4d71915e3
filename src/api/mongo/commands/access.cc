// See access.h.
#include "api/mongo/commands/access.h"

#include <fmt/format.h>

namespace orrery::mongo {

std::vector<Role> roles_of(const HandlerContext& context, const Connection& connection) {
  if (connection.identity) {
    const UserPtr user =
        context.users.find(connection.identity->database, connection.identity->name);
    return user ? user->roles : std::vector<Role>();
  }
  if (!connection.access) return {};
  if (*connection.access == account::Access::read_write) return {{"root", "admin"}};
  return {{"readAnyDatabase", "admin"}, {"clusterMonitor", "admin"}};
}

bool is_logged_in(const HandlerContext& context, const Connection& connection) {
  if (!connection.identity) return connection.access.has_value();
  return context.users.find(connection.identity->database, connection.identity->name) != nullptr;
}

Answer<void> check_may(const HandlerContext& context, const Call& call, Action action,
                       std::string_view database) {
  if (action == Action::nothing) return {};
  if (!is_logged_in(context, call.connection)) {
    return refuse(kUnauthorized, fmt::format("Command {} requires authentication", call.name));
  }
  const bool is_root =
      !call.connection.identity && call.connection.access == account::Access::read_write;
  if (is_root || allow(roles_of(context, call.connection), action, database)) return {};
  const bool reads_only = !call.connection.identity;
  return refuse(kUnauthorized, fmt::format("not authorized on {} to execute command {}{}", database,
                                           call.name, reads_only ? ": this key reads only" : ""));
}

}  // namespace orrery::mongo
