// See users.h.
#include "api/mongo/auth/users.h"

#include <fmt/format.h>

#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/bson/bson_writer.h"
#include "api/mongo/call.h"
#include "base/bytes.h"

namespace orrery::mongo {
namespace {

using value::Type;
using value::Value;

constexpr std::string_view kFace = "mongo";
constexpr std::string_view kAdminDatabase = "admin";
constexpr uint8_t kUserKind = 1;

void append_credential(BsonWriter& to, std::string_view name,
                       const std::optional<ScramCredential>& one) {
  if (!one) return;
  to.begin_document(name)
      .int32("iterationCount", static_cast<int32_t>(one->iterations))
      .binary("salt", one->salt)
      .binary("storedKey", one->derived.stored_key)
      .binary("serverKey", one->derived.server_key)
      .end();
}

std::optional<ScramCredential> read_credential(const Value& from) {
  if (!from.is_object()) return std::nullopt;
  const auto bytes = [&from](std::string_view name) {
    const Value found = from.find(name);
    return found.type() == Type::binary ? std::string(found.bytes()) : std::string();
  };
  ScramCredential one;
  one.iterations = static_cast<uint32_t>(from.find("iterationCount").integer());
  one.salt = bytes("salt");
  one.derived = {.stored_key = bytes("storedKey"), .server_key = bytes("serverKey")};
  return one;
}

std::string text_of(const Value& value) {
  return value.is_string() ? std::string(value.text()) : std::string();
}

std::unexpected<Error> not_found(std::string_view database, std::string_view name) {
  return refuse(kUserNotFound,
                fmt::format("Could not find user \"{}\" for db \"{}\"", name, database));
}

}  // namespace

std::string encode_user(const User& user) {
  BsonWriter to;
  to.string("user", user.name).string("db", user.database);
  to.begin_array("roles");
  BsonWriter::Index index;
  for (const Role& role : user.roles) {
    to.begin_document(index.next()).string("role", role.name).string("db", role.database).end();
  }
  to.end();
  if (user.custom_data.is_object()) to.value("customData", user.custom_data, SIZE_MAX);
  to.begin_document("credentials");
  append_credential(to, kScramSha1, user.sha1);
  append_credential(to, kScramSha256, user.sha256);
  to.end();
  return to_base64(to.take());
}

Answer<User> decode_user(std::string_view text) {
  const auto bytes = from_base64(text);
  if (!bytes) return refuse(kInternalError, "the stored form of a user is no base64");
  auto document = from_bson(*bytes);
  if (!document) return pass(std::move(document.error()));
  User user;
  user.name = text_of(document->find("user"));
  user.database = text_of(document->find("db"));
  for (const Value& role : document->find("roles").elements()) {
    user.roles.push_back({text_of(role.find("role")), text_of(role.find("db"))});
  }
  user.custom_data = document->find("customData").to_owned();
  user.sha1 = read_credential(document->find("credentials").find(kScramSha1));
  user.sha256 = read_credential(document->find("credentials").find(kScramSha256));
  return user;
}

uint32_t Users::parent() const {
  const auto database = engine_.catalog().database({kFace, kAdminDatabase});
  return database ? database->number : 0;
}

catalog::ResourcePtr Users::resource(std::string_view database, std::string_view name) const {
  const uint32_t of = parent();
  if (of == 0) return nullptr;
  return engine_.catalog().resource(kUserKind, of, fmt::format("{}.{}", database, name));
}

UserPtr Users::parsed(const catalog::Resource& resource) const {
  {
    MutexLock lock(mutex_);
    const auto found = parsed_.find(resource.number);
    if (found != parsed_.end() && found->second.first == resource.revision) {
      return found->second.second;
    }
  }
  auto decoded = decode_user(resource.body);
  if (!decoded) return nullptr;
  auto user = std::make_shared<const User>(std::move(*decoded));
  MutexLock lock(mutex_);
  if (parsed_.size() >= kUsersMax) parsed_.clear();
  parsed_[resource.number] = {resource.revision, user};
  return user;
}

UserPtr Users::find(std::string_view database, std::string_view name) const {
  const auto found = resource(database, name);
  return found ? parsed(*found) : nullptr;
}

std::vector<UserPtr> Users::all() const {
  std::vector<UserPtr> users;
  const uint32_t of = parent();
  if (of == 0) return users;
  for (const auto& one : engine_.catalog().resources(kUserKind, of)) {
    if (auto user = parsed(*one)) users.push_back(std::move(user));
  }
  return users;
}

Answer<void> Users::create(const User& user) {
  if (parent() == 0) {
    auto made = engine_.create_database({kFace, kAdminDatabase}, std::nullopt);
    if (!made && made.error().code != Code::conflict) return pass(engine_error(made.error()));
  }
  auto created =
      engine_.create_resource(kUserKind, parent(), user.id(), encode_user(user), kUsersMax);
  if (created) return {};
  if (created.error().code == Code::conflict) {
    return refuse(kUserExists,
                  fmt::format("User \"{}@{}\" already exists", user.name, user.database));
  }
  return pass(engine_error(created.error()));
}

Answer<void> Users::replace(const User& user) {
  const auto found = resource(user.database, user.name);
  if (!found) return not_found(user.database, user.name);
  auto replaced = engine_.replace_resource(found->number, found->name, encode_user(user), {});
  if (!replaced) return pass(engine_error(replaced.error()));
  return {};
}

Answer<void> Users::remove(std::string_view database, std::string_view name) {
  const auto found = resource(database, name);
  if (!found) return not_found(database, name);
  auto removed = engine_.remove_resource(found->number, {});
  if (!removed) return pass(engine_error(removed.error()));
  return {};
}

Answer<int32_t> Users::remove_all(std::string_view database) {
  int32_t count = 0;
  for (const UserPtr& user : all()) {
    if (user->database != database) continue;
    if (auto removed = remove(database, user->name); !removed) {
      return pass(std::move(removed.error()));
    }
    ++count;
  }
  return count;
}

}  // namespace orrery::mongo
