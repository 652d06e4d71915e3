// The data folder of a server: its lock, its keys, and the address of the server that runs on it.
// Only its owner has access (0700, and 0600 for files; serve.cc sets the umask for files that
// libraries create).
//
//   LOCK         held while a server runs on the folder
//   keys.json    the account's keys, made on first start
//   secret       what continuation tokens and resource tokens are sealed with
//   metrics-token  what /metrics asks for
//   server.json  the running server's address and certificate, for the other commands
//   cert.pem, key.pem   the certificate, made on first start unless one is given
//   partitions/  the data (see volume/local)
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "account/keys.h"
#include "base/result.h"

namespace orrery::cli {

// The key that the vendor's emulator is known by; public, so good for nothing but development.
inline constexpr const char* kEmulatorKey =
    "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";

// Where the package keeps the data of the server that it runs.
inline constexpr const char* kInstalledDataFolder = "/var/lib/orrery";

// The folder of a server whose folder nobody has named: ./orrery-data, or the installed one's where
// that is not there.
std::string usual_data_folder();

// An exclusive lock on a data folder, held until destroyed.
class FolderLock {
 public:
  // Creates the folder if it does not exist, and removes the access of others.
  static Result<std::unique_ptr<FolderLock>> take(const std::string& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  explicit FolderLock(int fd) : fd_(fd) {}
  int fd_;
};

// Reads the keys, or makes them when there are none.
Result<account::Keys> ensure_keys(const std::string& folder);
Result<account::Keys> read_keys(const std::string& folder);
// Puts a new key in the place of one, durably; gives all of them.
Result<account::Keys> regenerate_key(const std::string& folder, account::KeyName name);
Status write_keys(const std::string& folder, const account::Keys& keys);
// The keys with new ones in the place of these; nothing is written.
Result<account::Keys> with_new_keys(account::Keys keys, std::span<const account::KeyName> names);
Result<std::string> ensure_secret(const std::string& folder);
Result<std::string> new_secret();
// A line of text without spaces.
Result<std::string> ensure_metrics_token(const std::string& folder);

struct RunningServer {
  std::string address;
  uint16_t port = 0;
  bool dev = false;
  std::string certificate;   // the one that it shows (PEM): whoever has another is another
  std::string account = {};  // its name
  std::map<std::string, uint16_t> faces = {};  // the ports of the others, by their names
};
Status write_running_server(const std::string& folder, const RunningServer& server);
Result<RunningServer> read_running_server(const std::string& folder);
void remove_running_server(const std::string& folder);

}  // namespace orrery::cli
