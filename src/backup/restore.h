// Puts a backup into a volume, checking every file on the way.
//
// The catalog's place is marked first and its files come last: a server refuses a volume whose
// catalog is being restored, so what a restore that was broken off left is never served.
#pragma once

#include <cstdint>
#include <functional>

#include "backup/archive.h"
#include "backup/folder.h"
#include "backup/manifest.h"
#include "base/result.h"
#include "partition/partition.h"
#include "volume/volume.h"

namespace orrery::backup {

struct RestoreStanding {
  size_t partitions = 0;
  size_t done = 0;
  uint64_t bytes = 0;
  uint64_t bytes_done = 0;
};

struct RestoreOptions {
  // Tables are links to the folder's files, which are only read: for a volume in a local directory
  // on the same disk that is thrown away afterwards. Their checksums are not looked at.
  bool link_tables = false;
  std::function<bool()> stopped = [] { return false; };
  std::function<void(const RestoreStanding&)> progress = [](const RestoreStanding&) {};
};

// With `replay`, the state at its time. Code::conflict when the volume has anything in it.
// Code::would_wait when it was stopped.
Status restore(const Folder& folder, const Manifest& manifest, volume::Volume& volume,
               const partition::Shared& shared, const RestoreOptions& options,
               const Replay* replay = nullptr);

// Reads every file of a backup and checks its size and hash; calls `bad` for each that is wrong.
Status check_files(const Folder& folder, const Manifest& manifest, const RestoreOptions& options,
                   const std::function<void(const std::string& what)>& bad);

}  // namespace orrery::backup
