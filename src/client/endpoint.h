// Where an account is, which key to sign with, and which certificate it must show.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace orrery::client {

struct Endpoint {
  std::string host;
  uint16_t port = 443;
  std::string key;          // base64
  std::string certificate;  // PEM; the one that the server must have. Empty: see `ca`
  std::string ca;           // PEM file of the certificates to trust; empty: the system's
  std::string data;         // the data folder that `certificate` is from; for messages
  bool insecure = false;    // takes any certificate; only when a person asked for that
  // The name that tables are under; requests are signed for their protocol then. Empty: they are
  // signed as requests for items are.
  std::string table_account;
  // How the options of a command that set this begin, for messages: "--" or "--from-".
  std::string option_prefix = "--";

  std::string where() const;  // host:port
};

// An account's address as a person writes it, with what may follow:
//   https://shop.example.com:8081/DATABASE/CONTAINER
// The names are percent-decoded; either may be missing.
struct AccountUrl {
  std::string host;
  uint16_t port = 443;
  std::string database;
  std::string container;
};
// Whether the text is meant as such an address, rather than as a file or a name.
bool looks_like_account_url(std::string_view text);
// Code::invalid when it is not https, or has parts that are not used: a user, a query, a fragment.
Result<AccountUrl> parse_account_url(const std::string& text);

// "AccountEndpoint=https://…;AccountKey=…;", as portals show it: the endpoint with its key.
Result<Endpoint> parse_connection_string(std::string_view text);

}  // namespace orrery::client
