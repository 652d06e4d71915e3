// See roles.h.
#include "api/cosmos/auth/roles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/bytes.h"

namespace orrery::cosmos {
namespace {

using value::Node;
using value::Type;

constexpr std::string_view kPrefix = "Microsoft.DocumentDB/databaseAccounts/";

struct NamedAction {
  std::string_view name;  // after the prefix
  Actions actions;
};
constexpr std::array<NamedAction, 12> kActions = {{
    {"readMetadata", action::kReadMetadata},
    {"sqlDatabases/containers/executeQuery", action::kExecuteQuery},
    {"sqlDatabases/containers/readChangeFeed", action::kReadChangeFeed},
    {"sqlDatabases/containers/executeStoredProcedure", action::kExecuteProcedure},
    {"sqlDatabases/containers/manageConflicts", action::kManageConflicts},
    {"sqlDatabases/containers/items/create", action::kCreate},
    {"sqlDatabases/containers/items/read", action::kRead},
    {"sqlDatabases/containers/items/replace", action::kReplace},
    {"sqlDatabases/containers/items/upsert", action::kUpsert},
    {"sqlDatabases/containers/items/delete", action::kDelete},
    {"sqlDatabases/containers/items/*", action::kItems},
    // The items are below containers: this is everything but metadata of the account.
    {"sqlDatabases/containers/*", action::kContributor & ~action::kReadMetadata},
}};

std::string_view text_of(const Node& object, std::string_view name) {
  const Node* found = object.find(name);
  return found != nullptr && found->type == Type::string ? found->text : std::string_view();
}

using RoleMap = std::map<std::string, Actions, std::less<>>;

Result<Actions> actions_of(const Node& role) {
  const Node* list = role.find("actions");
  if (list == nullptr) list = role.find("dataActions");
  if (list == nullptr || list->type != Type::array || list->count == 0) {
    return fail(Code::invalid,
                fmt::format("the role {} has no array \"actions\"", role.raw.substr(0, 100)));
  }
  Actions all = 0;
  for (const Node* one = list->first; one != nullptr; one = one->next) {
    auto parsed = parse_action(one->type == Type::string ? one->text : one->raw);
    if (!parsed) return pass(parsed.error());
    all |= *parsed;
  }
  return all;
}

Result<RoleMap> roles_of(const Node& config) {
  RoleMap roles = {{"00000000-0000-0000-0000-000000000001", action::kReader},
                   {"00000000-0000-0000-0000-000000000002", action::kContributor},
                   {"Cosmos DB Built-in Data Reader", action::kReader},
                   {"Cosmos DB Built-in Data Contributor", action::kContributor}};
  const Node* list = config.find("roles");
  if (list == nullptr) return roles;
  if (list->type != Type::array) return fail(Code::invalid, "\"roles\" is not an array");
  for (const Node* role = list->first; role != nullptr; role = role->next) {
    if (role->type != Type::object) return fail(Code::invalid, "a role is not an object");
    if (role->find("notDataActions") != nullptr) {
      return fail(Code::invalid, "a role has \"notDataActions\": list what it allows instead");
    }
    auto actions = actions_of(*role);
    if (!actions) return pass(actions.error());
    bool named = false;
    for (std::string_view member : {"id", "name"}) {
      const std::string_view name = text_of(*role, member);
      if (name.empty()) continue;
      named = true;
      if (!roles.emplace(name, *actions).second) {
        return fail(Code::invalid, fmt::format("there are two roles \"{}\"", name));
      }
    }
    if (!named) return fail(Code::invalid, "a role has neither \"name\" nor \"id\"");
  }
  return roles;
}

struct Scope {
  std::string database;
  std::string container;
};

// "/", "/dbs/shop", "/dbs/shop/colls/orders"; the vendor's own have the path of the account before
// it.
Result<Scope> parse_scope(std::string_view text) {
  const auto refuse = [text] {
    return fail(Code::invalid, fmt::format("the scope \"{}\" is not one of /, /dbs/DATABASE and "
                                           "/dbs/DATABASE/colls/CONTAINER",
                                           text.substr(0, 200)));
  };
  std::string_view rest = text;
  constexpr std::string_view kAccounts = "/databaseAccounts/";
  if (rest.starts_with("/subscriptions/")) {
    const size_t at = rest.find(kAccounts);
    if (at == std::string_view::npos) return refuse();
    rest.remove_prefix(at + kAccounts.size());
    const size_t slash = rest.find('/');
    rest = slash == std::string_view::npos ? "/" : rest.substr(slash);
  }
  Scope scope;
  if (rest == "/") return scope;
  constexpr std::string_view kDatabases = "/dbs/";
  constexpr std::string_view kContainers = "/colls/";
  if (!rest.starts_with(kDatabases)) return refuse();
  rest.remove_prefix(kDatabases.size());
  const size_t slash = rest.find('/');
  scope.database = rest.substr(0, slash);
  if (scope.database.empty()) return refuse();
  if (slash == std::string_view::npos) return scope;
  rest.remove_prefix(slash);
  if (!rest.starts_with(kContainers)) return refuse();
  scope.container = rest.substr(kContainers.size());
  if (scope.container.empty() || scope.container.find('/') != std::string::npos) return refuse();
  return scope;
}

}  // namespace

Result<Actions> parse_action(std::string_view text) {
  if (text.size() > kPrefix.size() && equals_ignore_case(text.substr(0, kPrefix.size()), kPrefix)) {
    const std::string_view name = text.substr(kPrefix.size());
    for (const NamedAction& known : kActions) {
      if (equals_ignore_case(name, known.name)) return known.actions;
    }
  }
  return fail(Code::invalid,
              fmt::format("\"{}\" is not an action on data: {}readMetadata is one, and "
                          "docs/guides/access-control.md has all",
                          text.substr(0, 200), kPrefix));
}

std::string action_names(Actions actions) {
  std::string names;
  for (const NamedAction& known : kActions) {
    const bool is_single = (known.actions & (known.actions - 1)) == 0;
    if (!is_single || (known.actions & actions) == 0) continue;
    if (!names.empty()) names += ", ";
    names += kPrefix;
    names += known.name;
  }
  return names;
}

Result<Roles> Roles::parse(const Node& config) {
  auto roles = roles_of(config);
  if (!roles) return pass(roles.error());
  Roles made;
  const Node* list = config.find("assignments");
  if (list == nullptr) return made;
  if (list->type != Type::array) return fail(Code::invalid, "\"assignments\" is not an array");
  if (list->count > kMaxAssignments) {
    return fail(Code::invalid,
                fmt::format("there are {} assignments, and {} are the most: assign to groups",
                            list->count, kMaxAssignments));
  }
  for (const Node* one = list->first; one != nullptr; one = one->next) {
    const std::string_view principal = text_of(*one, "principal");
    if (principal.empty()) {
      return fail(Code::invalid,
                  fmt::format("the assignment {} has no \"principal\"", one->raw.substr(0, 200)));
    }
    const auto role = roles->find(text_of(*one, "role"));
    if (role == roles->end()) {
      return fail(Code::invalid, fmt::format("the assignment {} has no \"role\" that is one of "
                                             "those here or built in",
                                             one->raw.substr(0, 200)));
    }
    auto scope = parse_scope(text_of(*one, "scope"));
    if (!scope) return pass(scope.error());
    made.by_principal_[std::string(principal)].push_back(
        {.actions = role->second,
         .database = std::move(scope->database),
         .container = std::move(scope->container)});
  }
  return made;
}

template <class Visit>
void Roles::each_of(const account::Bearer& bearer, const Visit& visit) const {
  const auto visit_all = [&](const std::string& principal) {
    const auto found = by_principal_.find(principal);
    if (found != by_principal_.end()) std::ranges::for_each(found->second, visit);
  };
  visit_all(bearer.id);
  std::ranges::for_each(bearer.groups, visit_all);
}

Actions Roles::rights(const account::Bearer& bearer, std::string_view database,
                      std::string_view container) const {
  Actions all = 0;
  each_of(bearer, [&](const Assignment& one) {
    if (!one.database.empty() && one.database != database) return;
    if (!one.container.empty() && one.container != container) return;
    all |= one.actions;
  });
  return all;
}

Actions Roles::rights_anywhere(const account::Bearer& bearer) const {
  Actions all = 0;
  each_of(bearer, [&](const Assignment& one) { all |= one.actions; });
  return all;
}

}  // namespace orrery::cosmos
