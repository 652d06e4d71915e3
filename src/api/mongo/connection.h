// What the face knows of one connection: who logged in, and what its handshake said. It belongs to
// the command that is being run for the connection, of which there is one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "account/keys.h"
#include "api/mongo/auth/scram.h"

namespace orrery::mongo {

struct Connection {
  int64_t id = 0;
  std::string peer;   // its address and port
  std::string local;  // those that it dialled
  bool is_tls = false;
  std::string app_name;  // as its handshake gave it

  std::optional<account::Access> access;  // of a key of the account; unset: nobody has one
  // A user that has logged in: its roles decide (commands/access.h), whatever `access` is.
  struct Identity {
    std::string database;
    std::string name;
  };
  std::optional<Identity> identity;
  std::string user;  // whose the sessions and cursors are; empty: nobody's, or nobody had to log in
  std::unique_ptr<ScramConversation> login;
  std::string login_database;  // where its user is to be found

  // Of the command before this one: getLastRequestStatistics tells it.
  struct Statistics {
    std::string command;
    double charge = 0;
    int64_t took_us = 0;
  };
  Statistics last;
};

}  // namespace orrery::mongo
