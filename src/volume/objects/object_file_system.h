// The file system of one claim in an object volume: RocksDB's files as objects. See file_entry.h
// for how a file's bytes lie in objects, and root.h for who may change what.
//
// Paths are /PARTITION/db/FILE. The claim's own partition can be changed here, and the clones that
// it makes, until others claim them.
//
// A written file is durable once Sync() or Close() has returned. Bytes that were appended are held
// in memory until then, or until there are enough of them for an object; a reader in this process
// makes them be written first. A synced append to a log is one operation on one object.
#pragma once

#include <rocksdb/file_system.h>

#include <functional>
#include <memory>
#include <string>

#include "volume/objects/block_cache.h"
#include "volume/objects/root.h"

namespace orrery::volume {

class ObjectFileSystem;

// `cache` may be null.
std::shared_ptr<ObjectFileSystem> make_object_file_system(std::string partition,
                                                          std::shared_ptr<Root> root,
                                                          std::shared_ptr<BlockCache> cache);
// The same, as RocksDB sees it.
std::shared_ptr<rocksdb::FileSystem> as_file_system(const std::shared_ptr<ObjectFileSystem>& files);
// From here on it may fill the clone's root.
void add_clone(ObjectFileSystem& files, const std::string& partition, std::shared_ptr<Root> root);

}  // namespace orrery::volume
