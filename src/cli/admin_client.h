// Talks to a running server for the commands that act on one.
//
// Always over https, and nothing is sent before the server has proved its identity:
//   - the server of the data folder by its certificate, which it has left there in server.json;
//   - a server elsewhere (--host) by a certificate for that name that --ca or the system trusts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/data_folder.h"
#include "client/endpoint.h"

namespace orrery::cli {

// The address of the server and the key to use. What is not given is read from the data folder.
struct ServerAddress {
  std::string data = usual_data_folder();
  std::string host;       // empty: from the data folder
  uint16_t port = 0;      // 0: from the data folder
  std::string key;        // empty: from the data folder
  std::string ca;         // PEM file of the certificates to trust; empty: as said above
  bool insecure = false;  // takes any certificate; only when a person asked for that
};

// Where that is, for a client.
Result<client::Endpoint> find_endpoint(const ServerAddress& address);

// Where its tables are: the port of that face, and the account's name. Where the port that is named
// is not the main port of the data folder's server, it is that of the tables.
Result<client::Endpoint> find_table_endpoint(const ServerAddress& address);

// Sends one signed request to /admin/… and returns the body of a 200. Any other answer is an error
// with the server's message.
Result<std::string> call_admin(const ServerAddress& address, std::string_view method,
                               std::string_view target, std::string_view body);

}  // namespace orrery::cli
