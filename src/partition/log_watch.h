// Knows how far RocksDB's log reached when the newest commit succeeded, and can cut off what came
// after it: a commit that failed may have left a part of itself there, or all of it, and must not
// be found by a later recovery. Cutting takes no space, so it works on a full disk.
//
// A file system between RocksDB and the claim's, which counts what is appended to the logs.
//
// It also keeps RocksDB from ending the process: builds with assertions (as Debian's is) do so when
// a log is synced again after that has failed, and every flush syncs the logs before the newest. So
// the failure of such a sync is not told to whoever asked for it, but to all that follow: nothing
// is written any more, and no commit succeeds, until cut_back().
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

  // All that is in the logs now is to stay.
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
