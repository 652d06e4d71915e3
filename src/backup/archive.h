// The archived commits of a folder of backups: from them and a backup a state in between is made.
// docs/formats/backup.md has the bytes.
//
//   archive/00000001.log   what one look at the account brought; never changed
//
// A look has a section for each partition: the commits after the look before it, and up to which
// time these are all. It also says which LSN the catalog had, and until when: a look at another
// catalog is followed by a new backup.
//
// Threading: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "backup/folder.h"
#include "backup/manifest.h"
#include "base/result.h"
#include "partition/commit_tail.h"

namespace orrery::backup {

struct ArchivedSection {
  std::string volume_name;
  uint64_t after = 0;     // the commits begin after this sequence number
  uint64_t sequence = 0;  // and go up to this one
  int64_t until_ms = 0;   // by the server's clock: there are no others up to this time
  std::vector<partition::CommitBatch> batches;
};

struct ArchivedLook {
  uint64_t catalog_lsn = 0;
  int64_t catalog_until_ms = 0;  // the catalog had that LSN up to this time
  std::vector<ArchivedSection> sections;
};

std::string encode(const ArchivedLook& look);
// Code::corrupt when it does not check.
Result<ArchivedLook> decode_look(std::string_view bytes);

class Archive {
 public:
  explicit Archive(const Folder& folder) : path_(folder.path() + "/archive") {}

  Status write(const ArchivedLook& look);
  // In the order in which they were written.
  Result<std::vector<std::string>> names() const;
  Result<ArchivedLook> read(std::string_view name) const;

 private:
  const std::string path_;
};

// Which commits lead from a backup to a time.
struct Replay {
  int64_t at_ms = 0;
  std::map<std::string, std::vector<std::string>> looks;  // of each partition, in order
};

// The newest backup that is not after `at_ms`, and the commits from there on. Code::invalid, with
// the times that are possible, when the archive does not have them all.
struct PointInTime {
  Manifest manifest;
  Replay replay;
};
Result<PointInTime> find_point(const Folder& folder, int64_t at_ms);

// 2026-11-16T13:45:00.250Z, and back.
std::string time_text(int64_t ms);
Result<int64_t> parse_time(std::string_view text);

}  // namespace orrery::backup
