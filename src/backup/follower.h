// Follows a running account: makes a backup, then archives its commits, look by look (archive.h).
// When a look finds that the catalog has changed, that a partition was split, dropped or moved, or
// that commits are missing, it makes another backup and goes on from there.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "backup/archive.h"
#include "backup/backup_run.h"
#include "backup/folder.h"
#include "backup/source.h"
#include "base/clock.h"
#include "base/result.h"

namespace orrery::backup {

struct FollowOptions {
  RunOptions run;
  int64_t interval_ms = 10'000;
  // Called after each backup and each look.
  std::function<void(const Manifest&)> made = [](const Manifest&) {};
  std::function<void(const ArchivedLook&)> looked = [](const ArchivedLook&) {};
};

class Follower {
 public:
  Follower(Folder& folder, Source& source, const Clock& clock, FollowOptions options)
      : folder_(folder),
        source_(source),
        clock_(clock),
        options_(std::move(options)),
        archive_(folder) {}

  // Until it is asked to stop, or cannot go on.
  Status run();
  // One look, after a backup where that is needed. Gives whether another backup is needed.
  Result<bool> step();

 private:
  struct Followed {
    uint32_t container = 0;
    uint32_t range = 0;
    uint64_t sequence = 0;
  };

  Status make_backup();
  // So that commits from now on are kept.
  Status attach();
  Result<bool> look();
  // False: commits are missing, or the partition is not there any more.
  Result<bool> read_commits(const std::string& volume_name, Followed& one, ArchivedSection& into);

  Folder& folder_;
  Source& source_;
  const Clock& clock_;
  const FollowOptions options_;
  Archive archive_;
  std::optional<uint64_t> catalog_lsn_;  // of the newest backup; nothing: one is to be made
  std::map<std::string, Followed> followed_;
  int64_t written_us_ = 0;  // when the archive was last written to
};

}  // namespace orrery::backup
