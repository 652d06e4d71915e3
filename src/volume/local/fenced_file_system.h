// The local file system with a fence before every mutation.
#pragma once

#include <rocksdb/file_system.h>

#include <memory>

#include "volume/local/fence.h"

namespace orrery::volume {

std::shared_ptr<rocksdb::FileSystem> make_fenced_file_system(
    const std::shared_ptr<rocksdb::FileSystem>& base, std::shared_ptr<Fence> fence);

}  // namespace orrery::volume
