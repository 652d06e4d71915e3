// Keeps a thread that must not wait for the disk from reading files, whatever RocksDB does.
//
// RocksDB can be asked to read what is in its caches alone, and mostly does; but some of its calls
// know no such option, and open a table's file or read its index. So its file system asks here
// first.
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
