// `orrery backup`, `restore` and `verify`: backups of an account in a folder (src/backup).
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "cli/admin_client.h"
#include "cli/volumes.h"

namespace orrery::cli {

struct BackupOptions {
  std::string version;  // of this program
  ServerAddress server;
  std::string to;
  bool follow = false;
  uint32_t interval_s = 10;
  bool json = false;
  bool quiet = false;
};

struct RestoreCommandOptions {
  std::string from;
  std::string backup;  // empty: the newest
  std::string at;      // a time; empty: as the backup is
  std::string data;
  VolumeOptions volume;
  bool json = false;
  bool quiet = false;
};

struct VerifyOptions {
  std::string from;
  std::string backup;  // empty: all
  std::string scratch;
  bool json = false;
  bool quiet = false;
};

// Each gives the process's exit code: 0 done, 1 failed, 3 stopped by a signal; verify 3 when
// something is wrong, 4 when it was stopped.
int back_up(const BackupOptions& options);
int restore_backup(const RestoreCommandOptions& options);
int verify_backups(const VerifyOptions& options);

class BackupCommands {
 public:
  BackupCommands(CLI::App& app, std::string version);
  BackupCommands(const BackupCommands&) = delete;
  BackupCommands& operator=(const BackupCommands&) = delete;

  // After parsing: the exit code of the command that was named, if it is one of these.
  std::optional<int> run() const;

 private:
  BackupOptions backup_;
  RestoreCommandOptions restore_;
  VerifyOptions verify_;
  CLI::App* backup_command_ = nullptr;
  CLI::App* restore_command_ = nullptr;
  CLI::App* verify_command_ = nullptr;
};

}  // namespace orrery::cli
