// Truncates RocksDB's write-ahead log to the end of the newest successful commit. A failed commit
// may have left some or all of its bytes after that, which a later recovery must not replay.
// Truncation needs no space, so it works on a full disk.
//
// A file system between RocksDB and the claim's, which counts what is appended to the logs.
//
// It also keeps RocksDB from aborting the process. Builds with assertions (as Debian's is) abort
// when a log is synced again after a sync failed, and every flush syncs the older logs. So the
// failure of such a sync is hidden from its caller. Instead every later write and sync fails, and
// with them every commit, until cut_back().
//
// Threading: acknowledge() and cut_back() by the writer, the file system by any thread.
#pragma once

#include <rocksdb/file_system.h>

#include <memory>
#include <string>

namespace orrery::partition {

class LogWatch {
 public:
  // Watches the logs in `directory`. (Clones are made in others through the same file system.)
  LogWatch(const std::shared_ptr<rocksdb::FileSystem>& base, std::string directory);

  const std::shared_ptr<rocksdb::FileSystem>& file_system() const { return watching_; }

  // Marks the current ends of the logs as committed.
  void acknowledge();
  // Durably takes away what was appended since. With the database closed. Does nothing before the
  // first acknowledge().
  rocksdb::IOStatus cut_back();

 private:
  class File;
  class Watching;
  struct State;

  const std::string directory_;
  const std::shared_ptr<rocksdb::FileSystem> base_;
  const std::shared_ptr<State> state_;
  const std::shared_ptr<rocksdb::FileSystem> watching_;
};

}  // namespace orrery::partition
