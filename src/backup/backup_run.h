// Makes one backup of a running account (docs/decisions/0029-what-a-backup-is.md).
//
// Rounds. In each the catalog is exported, which names the ranges there are. A range that was not
// copied yet, or was copied by other index rules than the catalog has now, is copied. When there is
// none, that catalog is the backup's: it is no older than any partition, and every partition that
// it names is there. Otherwise the next round takes the newer catalog. Ranges that were split
// meanwhile are left out with the old map, and their children are copied.
//
// A partition whose copy is broken off (closed, moved, its node ended) is copied again; tables that
// are there already are not asked for again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "backup/folder.h"
#include "backup/manifest.h"
#include "backup/source.h"
#include "base/clock.h"
#include "base/result.h"
#include "cluster/exporting/export_messages.h"

namespace orrery::backup {

struct Standing {
  size_t partitions = 0;  // of the newest catalog, with files
  size_t copied = 0;      // of them
  uint64_t bytes_copied = 0;
  uint64_t bytes_shared = 0;  // that were there already
};

struct RunOptions {
  std::string program;  // its version
  // Asked now and then.
  std::function<bool()> stopped = [] { return false; };
  std::function<void(const Standing&)> progress = [](const Standing&) {};
  // Waits before asking again.
  std::function<void(int64_t ms)> sleep;
};

class BackupRun {
 public:
  BackupRun(Folder& folder, Source& source, const Clock& clock, RunOptions options);

  // Code::would_wait when it was stopped. Whatever happens before the end leaves no manifest.
  Result<Manifest> run();
  const Standing& standing() const { return standing_; }

 private:
  struct Copied {
    BackedUpPartition partition;
    bool has_files = false;
    uint32_t index_version = 0;
    uint32_t indexed_version = 0;
  };

  Status check_stopped() const;
  Result<std::string> ask(const cluster::ExportRequest& request);
  // Waits for what will pass: true when it is to be tried again.
  bool wait_for(const Error& error, int tries) const;
  Result<cluster::OpenedExport> open(const cluster::ExportRequest& request);
  Result<BackedUpPartition> copy(const cluster::OpenedExport& opened);
  Status copy_table(const cluster::OpenedExport& opened, BackedUpFile& file);
  Status copy_small(const cluster::OpenedExport& opened, std::vector<BackedUpFile*> files);
  void close(const cluster::OpenedExport& opened);
  // False: the range is not there any more.
  Result<bool> copy_range(const catalog::ExportedRange& range);
  // Whether all ranges of the catalog were copied already.
  Result<bool> copy_missing(const cluster::OpenedExport& catalog);

  Folder& folder_;
  Source& source_;
  const Clock& clock_;
  const RunOptions options_;
  Standing standing_;
  std::map<std::string, Copied> copied_;  // by the name in the volume
};

}  // namespace orrery::backup
