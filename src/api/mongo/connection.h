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

  std::optional<account::Access> access;  // unset: nobody has logged in
  std::string user;                       // empty: nobody, or nobody had to
  std::unique_ptr<ScramConversation> login;

  // Of the command before this one: getLastRequestStatistics tells it.
  struct Statistics {
    std::string command;
    double charge = 0;
    int64_t took_us = 0;
  };
  Statistics last;
};

}  // namespace orrery::mongo
