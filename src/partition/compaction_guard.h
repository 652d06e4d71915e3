// Keeps compactions from using up a disk that is nearly full.
//
// A compaction frees more space than it takes, but it writes all of its output before it deletes
// its input. Meanwhile the disk may fill up, and commits would fail. So once the volume has no room
// for the compaction, its next append fails as on a full disk. RocksDB then ends the compaction,
// deletes its output and tries again later. The waits between attempts grow, since each may write
// much for nothing.
//
// A file system between RocksDB and the claim's. RocksDB writes tables of compactions with a
// priority of their own, by which they are told from those of flushes. Thread-safe.
#pragma once

#include <rocksdb/file_system.h>

#include <memory>

#include "base/clock.h"
#include "volume/volume.h"

namespace orrery::partition {

class CompactionGuard {
 public:
  CompactionGuard(const std::shared_ptr<rocksdb::FileSystem>& base, volume::Volume& volume,
                  const Clock& clock);

  const std::shared_ptr<rocksdb::FileSystem>& file_system() const { return guarding_; }

  // The next attempt need not wait: items were removed, so it may need less.
  void try_again();

 private:
  class Table;
  class Guarding;
  struct State;

  const std::shared_ptr<State> state_;
  const std::shared_ptr<rocksdb::FileSystem> guarding_;
};

}  // namespace orrery::partition
