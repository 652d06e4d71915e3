// The files of a partition as their owner, another process, goes on to write them: for a reader
// that is no owner. It is no claim and disturbs no owner: every mutation fails. A file that the
// owner has deleted cannot be read any more.
#pragma once

#include <rocksdb/file_system.h>

#include <memory>
#include <string>

#include "base/result.h"

namespace orrery::volume {

class FollowedFiles {
 public:
  virtual ~FollowedFiles() = default;
  virtual const std::shared_ptr<rocksdb::FileSystem>& file_system() const = 0;
  // Where the partition's database is, in that file system.
  virtual const std::string& directory() const = 0;
  // From here on names are as they are now. Code::not_found when the partition was removed.
  virtual Status refresh() = 0;
};

}  // namespace orrery::volume
