// See file_reads.h.
#include "partition/file_reads.h"

#include <utility>

namespace orrery::partition {
namespace {

using rocksdb::FileOptions;
using rocksdb::FSRandomAccessFile;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

struct ThreadReads {
  uint32_t memory_only = 0;  // how many of them live
  uint64_t missed = 0;
  uint64_t done = 0;
};
thread_local ThreadReads thread_reads;

IOStatus may_read() {
  if (thread_reads.memory_only == 0) {
    ++thread_reads.done;
    return IOStatus::OK();
  }
  ++thread_reads.missed;
  return IOStatus::Busy("this thread does not wait for files");
}

class WatchedFile final : public rocksdb::FSRandomAccessFileOwnerWrapper {
 public:
  explicit WatchedFile(std::unique_ptr<FSRandomAccessFile> file)
      : FSRandomAccessFileOwnerWrapper(std::move(file)) {}

  IOStatus Read(uint64_t offset, size_t size, const IOOptions& options, rocksdb::Slice* result,
                char* scratch, IODebugContext* debug) const override {
    const IOStatus may = may_read();
    return may.ok() ? target()->Read(offset, size, options, result, scratch, debug) : may;
  }
  IOStatus MultiRead(rocksdb::FSReadRequest* requests, size_t count, const IOOptions& options,
                     IODebugContext* debug) override {
    if (const IOStatus may = may_read(); !may.ok()) return may;
    // Debian's RocksDB is built without io_uring, and reads one after the other. The system is
    // told of all of them first, so that the disk has them at once. A hint for what the system has
    // in memory takes less than a microsecond. It may fail: then the reads say why.
    for (size_t i = 0; count > 1 && i < count; ++i) {
      const auto told = target()->Prefetch(requests[i].offset, requests[i].len, options, debug);
      if (!told.ok()) break;
    }
    return target()->MultiRead(requests, count, options, debug);
  }
  IOStatus Prefetch(uint64_t offset, size_t size, const IOOptions& options,
                    IODebugContext* debug) override {
    const IOStatus may = may_read();
    return may.ok() ? target()->Prefetch(offset, size, options, debug) : may;
  }
};

class WatchedFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "orrery.watched"; }
  IOStatus NewRandomAccessFile(const std::string& name, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* result,
                               IODebugContext* debug) override {
    if (const IOStatus may = may_read(); !may.ok()) return may;
    std::unique_ptr<FSRandomAccessFile> file;
    IOStatus opened = target()->NewRandomAccessFile(name, options, &file, debug);
    if (opened.ok()) *result = std::make_unique<WatchedFile>(std::move(file));
    return opened;
  }
};

}  // namespace

MemoryOnly::MemoryOnly() : missed_before_(thread_reads.missed) {
  ++thread_reads.memory_only;
}

MemoryOnly::~MemoryOnly() {
  --thread_reads.memory_only;
}

bool MemoryOnly::has_missed() const {
  return thread_reads.missed != missed_before_;
}

std::shared_ptr<rocksdb::FileSystem> watch_reads(std::shared_ptr<rocksdb::FileSystem> files) {
  return std::make_shared<WatchedFileSystem>(files);
}

uint64_t file_reads_of_thread() {
  return thread_reads.done;
}

}  // namespace orrery::partition
