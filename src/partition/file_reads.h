// Keeps RocksDB from reading files on a thread that must not wait for the disk.
//
// RocksDB can be told to read from its caches only (kBlockCacheTier), but some of its calls ignore
// that and open a table file or read its index. So its file system checks here before it reads.
//
// Threading: each thread is watched by itself.
#pragma once

#include <rocksdb/file_system.h>

#include <cstdint>
#include <memory>

namespace orrery::partition {

// While one lives, reads of files on this thread fail, and are remembered.
class MemoryOnly {
 public:
  MemoryOnly();
  ~MemoryOnly();
  MemoryOnly(const MemoryOnly&) = delete;
  MemoryOnly& operator=(const MemoryOnly&) = delete;

  // Whether something was not in memory: then what RocksDB answered says nothing.
  bool has_missed() const;

 private:
  const uint64_t missed_before_;
};

// The same file system, which asks before it reads a table's file.
std::shared_ptr<rocksdb::FileSystem> watch_reads(std::shared_ptr<rocksdb::FileSystem> files);

// How often this thread has read or opened a table's file, for tests.
uint64_t file_reads_of_thread();

}  // namespace orrery::partition
