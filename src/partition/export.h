// The files of one state of a partition, to be copied elsewhere while it goes on serving: backups.
//
// begin_export() flushes, so that the log has little, and then takes the list of files between two
// runs of the writer: exactly the commits up to info().lsn are in them, none in part. Tables never
// change; of the log and the manifest only the first `size` bytes count. From then on no file is
// deleted until the Export is destroyed.
//
// It keeps nothing open: when the partition is closed (least recently used, moved to another node,
// split and no longer read), or its database was opened again after an error of the disk, read()
// says Code::moved, and whoever copies begins again with a new one.
//
// Threading: any thread, one call at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "partition/partition.h"

namespace orrery::partition {

struct ExportedFile {
  std::string name;
  uint64_t size = 0;
  // Of a table: a hash of its end, where RocksDB keeps the number of the file and of the session
  // that wrote it. Two tables of the same size and mark are the same. Empty: the file may change.
  std::string mark;
};

struct ExportInfo {
  uint64_t lsn = 0;     // of the newest commit in it
  uint32_t time_s = 0;  // of that commit
  Usage usage;
  uint32_t index_version = 0;
  uint64_t sequence = 0;  // RocksDB's, of the newest write in it
  std::vector<ExportedFile> files;
};

class Export {
 public:
  ~Export();
  Export(const Export&) = delete;
  Export& operator=(const Export&) = delete;

  const ExportInfo& info() const { return info_; }
  // Bytes of a file of info(). Fewer than asked for only at its end.
  Result<std::string> read(std::string_view file, uint64_t from, size_t size) const;

 private:
  friend class Partition;
  Export(std::weak_ptr<Partition> partition, uint64_t generation)
      : partition_(std::move(partition)), generation_(generation) {}
  Status mark_tables(const Partition& partition);
  static Result<std::string> read_file(const Partition& partition, const std::string& name,
                                       uint64_t from, size_t size);

  const std::weak_ptr<Partition> partition_;
  const uint64_t generation_;  // of the store
  ExportInfo info_;
  std::string current_;  // CURRENT, as it was
};

}  // namespace orrery::partition
