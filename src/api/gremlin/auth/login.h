// SASL PLAIN: the user is the address of a graph, /dbs/DATABASE/colls/GRAPH, the password is a key
// of the account or a resource token for the container.
//
// Pure; any thread may call.
#pragma once

#include <string>
#include <string_view>

#include "account/account.h"
#include "base/result.h"

namespace orrery::gremlin {

struct Login {
  std::string database;
  std::string graph;
  bool may_write = false;
  std::string token;  // empty: logged in with a key. What it grants is asked with each request
};

// `sasl`: base64 of an authorization id, a user and a password, with a zero byte before the last
// two. Code::unauthorized with the reason.
Result<Login> log_in(std::string_view sasl, const account::Account& account);

}  // namespace orrery::gremlin
