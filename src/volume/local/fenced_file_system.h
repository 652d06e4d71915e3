// The local file system with a fence check before every mutation. It reports syncs, deletions and
// truncations of the logs and manifests in `directory` to `progress`.
#pragma once

#include <rocksdb/file_system.h>

#include <memory>
#include <string>

#include "volume/local/fence.h"
#include "volume/local/progress.h"

namespace orrery::volume {

std::shared_ptr<rocksdb::FileSystem> make_fenced_file_system(
    const std::shared_ptr<rocksdb::FileSystem>& base, std::shared_ptr<Fence> fence,
    std::shared_ptr<Progress> progress, std::string directory);

}  // namespace orrery::volume
