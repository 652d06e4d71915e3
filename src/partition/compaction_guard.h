// Keeps compactions from using up a disk that is nearly full.
//
// A compaction writes all of its output before it deletes its input, and then gives back more than
// it took; but until then it may need more than there is, and commits would fail meanwhile. So once
// the volume has no room for it, its next append fails as on a full disk, which ends it: RocksDB
// deletes what it wrote and begins again later. The waits between attempts grow, since each may
// write much for nothing.
//
// A file system between RocksDB and the claim's. RocksDB writes tables of compactions with a
// priority of their own, by which they are told from those of flushes.
#pragma once

#include <rocksdb/file_system.h>

#include <memory>

#include "base/clock.h"
#include "volume/volume.h"

namespace orrery::partition {

std::shared_ptr<rocksdb::FileSystem> make_compaction_guard(
    const std::shared_ptr<rocksdb::FileSystem>& base, volume::Volume& volume, const Clock& clock);

}  // namespace orrery::partition
