// `orrery token`: makes tokens to test signing in without a key. With --emulator one of the kind
// that `serve --dev` takes. Otherwise one that is signed with a key of a folder, which is made when
// there is none:
//   signing-key.pem   the private key
//   jwks.json         the public one, for "keys" in the file of `serve --entra`
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace orrery::cli {

struct TokenOptions {
  bool emulator = false;
  std::string folder;
  std::string issuer = "https://issuer.example/test";
  std::string audience = "https://cosmos.azure.com";
  std::string principal;
  std::vector<std::string> groups;
  int64_t lifetime_s = 3600;
  bool json = false;
};

void add_token_options(CLI::App& command, TokenOptions& options);
// Prints the token, or with `json` the token and when it expires. Returns the process's exit code.
int make_token(const TokenOptions& options);

}  // namespace orrery::cli
