// Open files of an object volume, as RocksDB uses them. Included by the file system alone.
#pragma once

#include <rocksdb/file_system.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "volume/objects/object_files.h"

namespace orrery::volume {

// Logs are read from their beginning to their end in small pieces.
inline constexpr size_t kReadAheadBytes = 1ULL << 20;

class ObjectWritableFile final : public rocksdb::FSWritableFile {
 public:
  explicit ObjectWritableFile(std::shared_ptr<FileWriter> writer) : writer_(std::move(writer)) {}

  using FSWritableFile::Append;
  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions&,
                           rocksdb::IODebugContext*) override {
    return writer_->append(data.ToStringView());
  }
  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions&,
                           const rocksdb::DataVerificationInfo&,
                           rocksdb::IODebugContext*) override {
    return writer_->append(data.ToStringView());
  }
  rocksdb::IOStatus Truncate(uint64_t size, const rocksdb::IOOptions&,
                             rocksdb::IODebugContext*) override {
    return writer_->truncate(size);
  }
  rocksdb::IOStatus Close(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
    return writer_->sync();
  }
  rocksdb::IOStatus Flush(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
    return rocksdb::IOStatus::OK();
  }
  rocksdb::IOStatus Sync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
    return writer_->sync();
  }
  bool IsSyncThreadSafe() const override { return true; }
  uint64_t GetFileSize(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
    return writer_->size();
  }

 private:
  const std::shared_ptr<FileWriter> writer_;
};

class ObjectSequentialFile final : public rocksdb::FSSequentialFile {
 public:
  // At the end of the file, gives it as it is now. Unset: it does not grow.
  using Reopen = std::function<Result<std::shared_ptr<FileReader>>()>;

  ObjectSequentialFile(std::shared_ptr<FileReader> reader, Reopen reopen)
      : reader_(std::move(reader)), reopen_(std::move(reopen)) {}

  rocksdb::IOStatus Read(size_t count, const rocksdb::IOOptions&, rocksdb::Slice* result,
                         char* scratch, rocksdb::IODebugContext*) override {
    size_t done = 0;
    while (done < count) {
      if (position_ < ahead_start_ || position_ >= ahead_start_ + ahead_.size()) {
        ahead_.resize(std::max(kReadAheadBytes, count - done));
        auto got = reader_->read(position_, ahead_);
        if (!got) {
          ahead_.clear();
          return to_io_status(got.error());
        }
        ahead_.resize(*got);
        ahead_start_ = position_;
        if (*got == 0) {
          auto more = has_grown();
          if (!more) return to_io_status(more.error());
          if (*more) continue;
          break;
        }
      }
      const size_t at = position_ - ahead_start_;
      const size_t piece = std::min(count - done, ahead_.size() - at);
      std::memcpy(scratch + done, ahead_.data() + at, piece);
      done += piece;
      position_ += piece;
    }
    *result = rocksdb::Slice(scratch, done);
    return rocksdb::IOStatus::OK();
  }
  rocksdb::IOStatus Skip(uint64_t count) override {
    position_ += count;
    return rocksdb::IOStatus::OK();
  }

 private:
  // Asked at the end of what is known of it.
  Result<bool> has_grown() {
    if (!reopen_) return false;
    auto now = reopen_();
    if (!now) return pass(now.error());
    if (!(*now)->continues(*reader_)) {
      return fail(Code::internal, "the log was cut by its owner since it was read");
    }
    reader_ = std::move(*now);
    return reader_->size() > position_;
  }

  std::shared_ptr<FileReader> reader_;
  const Reopen reopen_;
  uint64_t position_ = 0;
  uint64_t ahead_start_ = 0;
  std::string ahead_;
};

class ObjectRandomAccessFile final : public rocksdb::FSRandomAccessFile {
 public:
  explicit ObjectRandomAccessFile(std::shared_ptr<FileReader> reader)
      : reader_(std::move(reader)) {}

  rocksdb::IOStatus Read(uint64_t offset, size_t count, const rocksdb::IOOptions&,
                         rocksdb::Slice* result, char* scratch,
                         rocksdb::IODebugContext*) const override {
    auto got = reader_->read(offset, std::span(scratch, count));
    if (!got) return to_io_status(got.error());
    *result = rocksdb::Slice(scratch, *got);
    return rocksdb::IOStatus::OK();
  }

 private:
  const std::shared_ptr<FileReader> reader_;
};

class ObjectDirectory final : public rocksdb::FSDirectory {
 public:
  // Names are durable as they are made.
  rocksdb::IOStatus Fsync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
    return rocksdb::IOStatus::OK();
  }
};

}  // namespace orrery::volume
