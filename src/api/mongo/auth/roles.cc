// See roles.h.
#include "api/mongo/auth/roles.h"

#include <algorithm>
#include <array>

namespace orrery::mongo {
namespace {

constexpr std::string_view kAdmin = "admin";
constexpr Actions kRead = Action::read | Action::statistics;
constexpr Actions kReadWrite = kRead | Action::write | Action::collections;
constexpr Actions kDbAdmin = Action::statistics | Action::collections | Action::manage;
constexpr Actions kUserAdmin = Actions{} | Action::users;
constexpr Actions kMonitor = Action::monitor | Action::statistics;
constexpr Actions kCluster = kMonitor | Action::cluster;

constexpr std::array kRoles = {
    BuiltInRole{"read", kRead, false},
    BuiltInRole{"readWrite", kReadWrite, false},
    BuiltInRole{"dbAdmin", kDbAdmin, false},
    BuiltInRole{"userAdmin", kUserAdmin, false},
    BuiltInRole{"dbOwner", kReadWrite | kDbAdmin | kUserAdmin, false},
    BuiltInRole{"readAnyDatabase", kRead, true},
    BuiltInRole{"readWriteAnyDatabase", kReadWrite, true},
    BuiltInRole{"dbAdminAnyDatabase", kDbAdmin, true},
    BuiltInRole{"userAdminAnyDatabase", kUserAdmin, true},
    BuiltInRole{"clusterMonitor", kMonitor, true},
    BuiltInRole{"clusterManager", kCluster, true},
    BuiltInRole{"clusterAdmin", kCluster | Action::manage, true},
    BuiltInRole{"root", kReadWrite | kDbAdmin | kUserAdmin | kCluster, true},
};

}  // namespace

std::span<const BuiltInRole> built_in_roles() {
  return kRoles;
}

const BuiltInRole* find_role(std::string_view name, std::string_view database) {
  const auto* const found = std::ranges::find(kRoles, name, &BuiltInRole::name);
  if (found == kRoles.end() || (found->is_of_all && database != kAdmin)) return nullptr;
  return found;
}

bool allow(std::span<const Role> roles, Action action, std::string_view database) {
  if (action == Action::nothing || action == Action::login) return true;
  return std::ranges::any_of(roles, [&](const Role& role) {
    const BuiltInRole* const is = find_role(role.name, role.database);
    return is != nullptr && has(is->actions, action) &&
           (is->is_of_all || role.database == database);
  });
}

bool allow_everywhere(std::span<const Role> roles, Action action) {
  return std::ranges::any_of(roles, [&](const Role& role) {
    const BuiltInRole* const is = find_role(role.name, role.database);
    return is != nullptr && is->is_of_all && has(is->actions, action);
  });
}

}  // namespace orrery::mongo
