// The bytes of one file in objects: writing and reading. Used by the file system of a claim alone.
//
// Writers are thread-safe: a reader may ask for what is in memory while RocksDB appends.
#pragma once

#include <rocksdb/file_system.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/thread_annotations.h"
#include "volume/objects/block_cache.h"
#include "volume/objects/root.h"

namespace orrery::volume {

// What RocksDB is told of an outcome: IOFenced when another owner has the partition.
rocksdb::IOStatus to_io_status(const Outcome& outcome, std::string_view doing);
rocksdb::IOStatus to_io_status(const Error& error);
rocksdb::IOStatus fenced();

class FileWriter {
 public:
  FileWriter(std::shared_ptr<Root> root, std::string path, FileEntry entry)
      : root_(std::move(root)), path_(std::move(path)), entry_(std::move(entry)) {}
  virtual ~FileWriter() = default;

  virtual rocksdb::IOStatus append(std::string_view bytes) = 0;
  // All that was appended is in objects, and the root knows of it.
  virtual rocksdb::IOStatus sync() = 0;
  virtual rocksdb::IOStatus truncate(uint64_t size) = 0;
  virtual uint64_t size() const = 0;
  // The file has another name now.
  void moved(std::string path) {
    MutexLock lock(mutex_);
    path_ = std::move(path);
  }

 protected:
  const std::shared_ptr<Root> root_;
  mutable Mutex mutex_;
  std::string path_ ORRERY_GUARDED_BY(mutex_);
  FileEntry entry_ ORRERY_GUARDED_BY(mutex_);
};

// A log or a manifest. The entry has its extents; it goes on in a new one.
std::unique_ptr<FileWriter> make_log_writer(std::shared_ptr<Root> root, std::string path,
                                            FileEntry entry);
// Every other file, from its beginning.
std::unique_ptr<FileWriter> make_table_writer(std::shared_ptr<Root> root, std::string path,
                                              FileEntry entry);

// Reads what was there when it was opened.
class FileReader {
 public:
  // Code::not_found when one of its objects is not there.
  static Result<std::shared_ptr<FileReader>> open(ObjectStore& store, FileEntry entry,
                                                  std::shared_ptr<BlockCache> cache = nullptr);

  uint64_t size() const { return size_; }
  // Whether this is a log that `before` is a beginning of.
  bool continues(const FileReader& before) const;
  // How many bytes there were from this offset on, up to as many as fit.
  Result<size_t> read(uint64_t offset, std::span<char> into) const;

 private:
  FileReader(ObjectStore& store, FileEntry entry, std::shared_ptr<BlockCache> cache)
      : store_(store), entry_(std::move(entry)), cache_(std::move(cache)) {}
  // Within one object, all of which is there.
  Status read_object(uint64_t number, uint64_t offset, std::span<char> into) const;
  Status read_piece(uint64_t number, uint64_t offset, std::span<char> into) const;

  ObjectStore& store_;
  FileEntry entry_;
  const std::shared_ptr<BlockCache> cache_;  // may be null
  std::vector<uint64_t> starts_;             // log: where each extent begins
  uint64_t size_ = 0;
};

}  // namespace orrery::volume
