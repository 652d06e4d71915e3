// The users that the account knows beside itself: made by createUser, with roles and a password of
// which the server has what SCRAM needs to check it.
//
// They are resources of the database `admin` in the catalog, named database.user, each a document,
// BSON in base64 since resources are texts:
//   {user, db, roles: [{role, db}, …], customData,
//    credentials: {"SCRAM-SHA-1": {iterationCount, salt, storedKey, serverKey}, …}}
//
// Threading: any thread. Changes block until durable.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/mongo/auth/roles.h"
#include "api/mongo/auth/scram.h"
#include "api/mongo/bson/error.h"
#include "base/thread_annotations.h"
#include "cluster/engine.h"
#include "value/value.h"

namespace orrery::mongo {

struct User {
  std::string name;
  std::string database;
  std::vector<Role> roles;
  value::Value custom_data = {};  // an object, or undefined
  std::optional<ScramCredential> sha1 = {};
  std::optional<ScramCredential> sha256 = {};

  std::string id() const { return database + "." + name; }
  const std::optional<ScramCredential>& credential(ScramKind kind) const {
    return kind == ScramKind::sha1 ? sha1 : sha256;
  }
};
using UserPtr = std::shared_ptr<const User>;

std::string encode_user(const User& user);
Answer<User> decode_user(std::string_view text);

class Users {
 public:
  explicit Users(cluster::Engine& engine) : engine_(engine) {}

  static constexpr size_t kUsersMax = 10'000;

  // Null when there is none.
  UserPtr find(std::string_view database, std::string_view name) const;
  std::vector<UserPtr> all() const;
  // kUserExists, kUserNotFound.
  Answer<void> create(const User& user);
  Answer<void> replace(const User& user);
  Answer<void> remove(std::string_view database, std::string_view name);
  // How many there were.
  Answer<int32_t> remove_all(std::string_view database);

 private:
  uint32_t parent() const;  // 0: there is none yet
  catalog::ResourcePtr resource(std::string_view database, std::string_view name) const;
  UserPtr parsed(const catalog::Resource& resource) const;

  cluster::Engine& engine_;
  mutable Mutex mutex_;
  // By the resource's number: its revision, and what it says.
  mutable std::map<uint32_t, std::pair<uint64_t, UserPtr>> parsed_ ORRERY_GUARDED_BY(mutex_);
};

}  // namespace orrery::mongo
