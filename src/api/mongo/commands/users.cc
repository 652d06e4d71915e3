// Users and roles: createUser, updateUser, dropUser, grantRolesToUser and the like.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/mongo/auth/users.h"
#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/collections/collections.h"
#include "api/mongo/commands/access.h"
#include "api/mongo/commands/arguments.h"
#include "api/mongo/commands/command.h"

namespace orrery::mongo {
namespace {

using value::Value;

constexpr size_t kRolesMax = 256;
constexpr size_t kNameBytesMax = 256;

Answer<std::string> user_name(const Call& call) {
  const Value name = call[call.name];
  if (!name.is_string() || name.text().empty() || name.text().size() > kNameBytesMax) {
    return refuse(kBadValue, fmt::format("{} needs the name of a user, of {} bytes at most",
                                         call.name, kNameBytesMax));
  }
  return std::string(name.text());
}

// Whoever gives or takes a role must be allowed to, on the role's database.
Answer<std::vector<Role>> roles_argument(const HandlerContext& context, const Call& call) {
  const Value given = call["roles"];
  if (!given.is_array() || given.size() > kRolesMax) {
    return refuse(kBadValue, fmt::format("\"{}\" command requires a \"roles\" array of {} at most",
                                         call.name, kRolesMax));
  }
  std::vector<Role> roles;
  for (const Value& one : given.elements()) {
    Role role{{}, std::string(call.database)};
    if (one.is_string()) {
      role.name = one.text();
    } else if (one.find("role").is_string() && one.find("db").is_string()) {
      role = {std::string(one.find("role").text()), std::string(one.find("db").text())};
    } else {
      return refuse(kBadValue, "a role is its name, or {role: name, db: name}");
    }
    if (find_role(role.name, role.database) == nullptr) {
      return refuse(kRoleNotFound,
                    fmt::format("Could not find role: {}@{}", role.name, role.database));
    }
    if (auto may = check_may(context, call, Action::users, role.database); !may) {
      return pass(std::move(may.error()));
    }
    if (std::ranges::find(roles, role) == roles.end()) roles.push_back(std::move(role));
  }
  return roles;
}

// Sets the credentials of a new password, of the mechanisms that are asked for.
Answer<void> set_password(const Call& call, User& user) {
  const Value password = call["pwd"];
  if (!password.is_string()) return refuse(kBadValue, "\"pwd\" must be a string");
  if (!flag_argument(call.command, "digestPassword", true)) {
    return refuse(kBadValue, "digestPassword: false is not supported: the server makes the digest");
  }
  std::vector<ScramKind> kinds = {ScramKind::sha1, ScramKind::sha256};
  if (const Value mechanisms = call["mechanisms"]; !mechanisms.is_undefined()) {
    kinds.clear();
    for (const Value& one : mechanisms.elements()) {
      const auto kind = one.is_string() ? scram_kind(one.text()) : std::nullopt;
      if (!kind) return refuse(kBadValue, "mechanisms are SCRAM-SHA-1 and SCRAM-SHA-256");
      kinds.push_back(*kind);
    }
    if (kinds.empty()) return refuse(kBadValue, "mechanisms field must not be empty");
  }
  user.sha1.reset();
  user.sha256.reset();
  for (const ScramKind kind : kinds) {
    auto made = make_credential(kind, user.name, std::string(password.text()));
    if (!made) return pass(std::move(made.error()));
    (kind == ScramKind::sha1 ? user.sha1 : user.sha256) = std::move(*made);
  }
  return {};
}

Answer<void> check_not_account(const HandlerContext& context, std::string_view name) {
  if (name != context.account.name()) return {};
  return refuse(
      kUserExists,
      fmt::format("'{}' is the account itself: its passwords are the account's keys", name));
}

Answer<User> user_of(const HandlerContext& context, const Call& call) {
  auto name = user_name(call);
  if (!name) return pass(std::move(name.error()));
  const UserPtr user = context.users.find(call.database, *name);
  if (!user) {
    return refuse(kUserNotFound,
                  fmt::format("Could not find user \"{}\" for db \"{}\"", *name, call.database));
  }
  return *user;
}

void append_roles(BsonWriter& answer, std::string_view name, std::span<const Role> roles) {
  answer.begin_array(name);
  BsonWriter::Index index;
  for (const Role& role : roles) {
    answer.begin_document(index.next()).string("role", role.name).string("db", role.database).end();
  }
  answer.end();
}

void append_user(BsonWriter& answer, const User& user, bool shows_credentials) {
  answer.string("_id", user.id()).string("user", user.name).string("db", user.database);
  if (user.custom_data.is_object()) answer.value("customData", user.custom_data, SIZE_MAX);
  append_roles(answer, "roles", user.roles);
  answer.begin_array("mechanisms");
  BsonWriter::Index index;
  if (user.sha1) answer.string(index.next(), kScramSha1);
  if (user.sha256) answer.string(index.next(), kScramSha256);
  answer.end();
  if (!shows_credentials) return;
  answer.begin_document("credentials");
  for (const ScramKind kind : {ScramKind::sha1, ScramKind::sha256}) {
    const auto& one = user.credential(kind);
    if (!one) continue;
    answer.begin_document(kind == ScramKind::sha1 ? kScramSha1 : kScramSha256)
        .int32("iterationCount", static_cast<int32_t>(one->iterations))
        .end();
  }
  answer.end();
}

// What usersInfo asks for: 1 (all of a database), a name, {user, db}, a list of these, or
// {forAllDBs: true}.
Answer<bool> asks_for(const Value& asked, std::string_view database, const User& user) {
  if (asked.is_number()) return user.database == database;
  if (asked.is_string()) return user.database == database && asked.text() == user.name;
  if (asked.is_object()) {
    if (flag_argument(asked, "forAllDBs", false)) return true;
    const Value name = asked.find("user");
    const Value of = asked.find("db");
    if (!name.is_string() || (!of.is_undefined() && !of.is_string())) {
      return refuse(kBadValue, "usersInfo: a user is {user: name, db: name}");
    }
    return name.text() == user.name && (of.is_string() ? of.text() : database) == user.database;
  }
  if (!asked.is_array()) return refuse(kTypeMismatch, "usersInfo needs a user, or 1 for all");
  for (const Value& one : asked.elements()) {
    if (one.is_array()) return refuse(kTypeMismatch, "usersInfo: a user is no array");
    auto is_it = asks_for(one, database, user);
    if (!is_it || *is_it) return is_it;
  }
  return false;
}

}  // namespace

Answer<void> run_create_user(const HandlerContext& context, Call& call) {
  auto name = user_name(call);
  if (!name) return pass(std::move(name.error()));
  if (auto checked = check_database_name(call.database); !checked) return checked;
  if (auto checked = check_not_account(context, *name); !checked) return checked;
  auto roles = roles_argument(context, call);
  if (!roles) return pass(std::move(roles.error()));
  User user{.name = *name, .database = std::string(call.database), .roles = std::move(*roles)};
  user.custom_data = call["customData"];
  if (auto set = set_password(call, user); !set) return set;
  return context.users.create(user);
}

Answer<void> run_update_user(const HandlerContext& context, Call& call) {
  auto user = user_of(context, call);
  if (!user) return pass(std::move(user.error()));
  const bool has_password = !call["pwd"].is_undefined();
  const bool has_roles = !call["roles"].is_undefined();
  const Value data = call["customData"];
  if (!has_password && !has_roles && data.is_undefined()) {
    return refuse(kBadValue, "Must specify at least one field to update in updateUser");
  }
  if (has_roles) {
    auto roles = roles_argument(context, call);
    if (!roles) return pass(std::move(roles.error()));
    user->roles = std::move(*roles);
  }
  if (has_password) {
    if (auto set = set_password(call, *user); !set) return set;
  }
  if (data.is_object()) user->custom_data = data;
  return context.users.replace(*user);
}

Answer<void> run_drop_user(const HandlerContext& context, Call& call) {
  auto name = user_name(call);
  if (!name) return pass(std::move(name.error()));
  return context.users.remove(call.database, *name);
}

Answer<void> run_drop_all_users(const HandlerContext& context, Call& call) {
  auto count = context.users.remove_all(call.database);
  if (!count) return pass(std::move(count.error()));
  call.answer.int32("n", *count);
  return {};
}

Answer<void> run_grant_roles(const HandlerContext& context, Call& call) {
  auto user = user_of(context, call);
  if (!user) return pass(std::move(user.error()));
  auto roles = roles_argument(context, call);
  if (!roles) return pass(std::move(roles.error()));
  for (Role& role : *roles) {
    if (std::ranges::find(user->roles, role) == user->roles.end()) {
      user->roles.push_back(std::move(role));
    }
  }
  return context.users.replace(*user);
}

Answer<void> run_revoke_roles(const HandlerContext& context, Call& call) {
  auto user = user_of(context, call);
  if (!user) return pass(std::move(user.error()));
  auto roles = roles_argument(context, call);
  if (!roles) return pass(std::move(roles.error()));
  std::erase_if(user->roles,
                [&](const Role& role) { return std::ranges::find(*roles, role) != roles->end(); });
  return context.users.replace(*user);
}

// The account is a user of the database admin.
Answer<void> run_users_info(const HandlerContext& context, Call& call) {
  std::vector<UserPtr> all = context.users.all();
  User account{.name = context.account.name(), .database = "admin", .roles = {{"root", "admin"}}};
  account.sha1.emplace();
  account.sha256.emplace();
  all.push_back(std::make_shared<const User>(std::move(account)));
  const bool shows_credentials = flag_argument(call.command, "showCredentials", false);
  // Who may not look at users sees itself.
  const bool sees_all = check_may(context, call, Action::users, call.database).has_value();
  call.answer.begin_array("users");
  BsonWriter::Index index;
  for (const UserPtr& user : all) {
    auto is_asked_for = asks_for(call[call.name], call.database, *user);
    if (!is_asked_for) return pass(std::move(is_asked_for.error()));
    if (!*is_asked_for) continue;
    const bool is_itself = user->id() == call.connection.user ||
                           (!call.connection.identity && user->name == call.connection.user);
    if (!is_itself && !check_may(context, call, Action::users, user->database)) {
      if (sees_all) continue;
      return refuse(kUnauthorized, fmt::format("not authorized on {} to execute command usersInfo",
                                               call.database));
    }
    call.answer.begin_document(index.next());
    append_user(call.answer, *user, shows_credentials);
    call.answer.end();
  }
  call.answer.end();
  return {};
}

Answer<void> run_roles_info(const HandlerContext& /*context*/, Call& call) {
  const Value asked = call[call.name];
  const bool shows_all =
      asked.is_number() && flag_argument(call.command, "showBuiltinRoles", false);
  call.answer.begin_array("roles");
  BsonWriter::Index index;
  const auto append = [&](std::string_view name, std::string_view database) {
    if (find_role(name, database) == nullptr) return;
    call.answer.begin_document(index.next())
        .string("role", name)
        .string("db", database)
        .boolean("isBuiltin", true);
    call.answer.begin_array("roles").end().begin_array("inheritedRoles").end().end();
  };
  const auto append_one = [&](const Value& one) {
    const Value name = one.is_string() ? one : one.find("role");
    const Value of = one.is_string() ? Value() : one.find("db");
    if (name.is_string()) append(name.text(), of.is_string() ? of.text() : call.database);
  };
  for (const BuiltInRole& role : built_in_roles()) {
    if (shows_all) append(role.name, call.database);
  }
  if (asked.is_array()) {
    for (const Value& one : asked.elements()) append_one(one);
  } else {
    append_one(asked);
  }
  call.answer.end();
  return {};
}

}  // namespace orrery::mongo
