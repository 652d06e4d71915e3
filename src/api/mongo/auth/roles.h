// The built-in roles: what each allows, on one database or on all.
//
// Pure; any thread may call.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::mongo {

// What a command is, to those who may run it. Roles are sets of these.
enum class Action : uint8_t {
  nothing,      // everybody, before logging in too
  login,        // everybody who has logged in
  read,         // documents
  write,        // documents
  statistics,   // sizes and names of collections and indexes
  collections,  // made, dropped, indexed
  manage,       // a database as a whole
  users,        // of a database
  monitor,      // the server
  cluster,      // how collections are spread; everybody's sessions
};
using Actions = uint32_t;
constexpr Actions operator|(Action a, Action b) {
  return (1U << static_cast<unsigned>(a)) | (1U << static_cast<unsigned>(b));
}
constexpr Actions operator|(Actions all, Action one) {
  return all | (1U << static_cast<unsigned>(one));
}
constexpr bool has(Actions all, Action one) {
  return (all & (1U << static_cast<unsigned>(one))) != 0;
}

struct Role {
  std::string name;
  std::string database;
  bool operator==(const Role&) const = default;
};

struct BuiltInRole {
  std::string_view name;
  Actions actions;
  bool is_of_all;  // of all databases; such a role is one of the database admin
};
std::span<const BuiltInRole> built_in_roles();
// Null when there is none in this database.
const BuiltInRole* find_role(std::string_view name, std::string_view database);

// Whether these roles allow something on a database.
bool allow(std::span<const Role> roles, Action action, std::string_view database);
// The same on every database.
bool allow_everywhere(std::span<const Role> roles, Action action);

}  // namespace orrery::mongo
