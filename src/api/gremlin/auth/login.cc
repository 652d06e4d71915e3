// See login.h.
#include "api/gremlin/auth/login.h"

#include "base/bytes.h"

namespace orrery::gremlin {
namespace {

std::unexpected<Error> refused(std::string_view why) {
  return fail(Code::unauthorized, std::string(why));
}

}  // namespace

Result<Login> log_in(std::string_view sasl, const account::Account& account) {
  auto bytes = from_base64(sasl);
  if (!bytes) return refused("the SASL argument is not base64");
  const std::string_view all = *bytes;
  const size_t first = all.find('\0');
  const size_t second = first == std::string_view::npos ? first : all.find('\0', first + 1);
  if (second == std::string_view::npos) return refused("the SASL argument is not that of PLAIN");
  std::string_view user = all.substr(first + 1, second - first - 1);
  const std::string_view password = all.substr(second + 1);

  Login login;
  constexpr std::string_view kDatabases = "/dbs/", kGraphs = "/colls/";
  const size_t middle = user.find(kGraphs);
  if (!user.starts_with(kDatabases) || middle == std::string_view::npos ||
      middle <= kDatabases.size() || middle + kGraphs.size() >= user.size()) {
    return refused("the user name is not /dbs/DATABASE/colls/GRAPH");
  }
  login.database = user.substr(kDatabases.size(), middle - kDatabases.size());
  login.graph = user.substr(middle + kGraphs.size());

  if (password.starts_with("type=resource&") || password.starts_with("type%3")) {
    login.token = password;
    return login;
  }
  account::Keys keys = account.keys().texts();
  bool known = false;
  for (const account::KeyName name : account::kAllKeys) {
    const std::string& key = account::key_of(keys, name);
    if (key.empty() || !equal_constant_time(key, password)) continue;
    known = true;
    login.may_write = login.may_write || account::access_of(name) == account::Access::read_write;
  }
  if (!known) {
    return refused("the password is neither a key of this account nor a resource token");
  }
  return login;
}

}  // namespace orrery::gremlin
