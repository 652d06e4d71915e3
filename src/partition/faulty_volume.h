// A volume whose disk can be made to fail, for tests: over a local volume, every append or sync of
// the claims' files fails with the chosen error while it is set. Or the disk is full after so many
// operations, or so many bytes. Or it can be made to wait before it makes a table file, as if
// flushes and compactions took long.
#pragma once

#include <rocksdb/file_system.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "volume/volume.h"

namespace orrery::partition {

struct DiskFault {
  enum class Error : uint8_t { none, no_space, io };
  std::atomic<Error> append = Error::none;  // new files, appends and renames
  std::atomic<Error> sync = Error::none;    // after an append that reached the file
  std::atomic<int> hits = 0;
  std::atomic<bool> low = false;  // what the volume says of its room
  std::atomic<bool> low_for_compaction = false;
  // Of those that take space: how many there were, and from which one on the disk is full.
  std::atomic<int64_t> operations = 0;
  std::atomic<int64_t> full_from = INT64_MAX;
  std::atomic<int64_t> syncs = 0;
  std::atomic<int64_t> syncs_fail_from = INT64_MAX;
  std::atomic<int64_t> space_bytes = INT64_MAX;  // left for appends
  std::mutex space_mutex;
  std::atomic<bool> hold_tables = false;  // call notify_all() after letting go
  std::atomic<int> held = 0;
  std::atomic<double> free_share = -1;  // below 0: as it is

  static rocksdb::IOStatus no_space() {
    return rocksdb::IOStatus::NoSpace("no space left on the test's device");
  }
  // For an operation that takes space.
  rocksdb::IOStatus grow(uint64_t bytes = 0) {
    const bool full = operations++ >= full_from;
    if (full || !use(static_cast<int64_t>(bytes))) {
      ++hits;
      return no_space();
    }
    return take(append);
  }
  rocksdb::IOStatus take_sync() {
    if (syncs++ >= syncs_fail_from) {
      ++hits;
      return rocksdb::IOStatus::IOError("the test's device failed");
    }
    return take(sync);
  }
  // With a negative number, gives bytes back.
  bool use(int64_t bytes) {
    std::lock_guard lock(space_mutex);
    if (space_bytes == INT64_MAX) return true;
    if (bytes > space_bytes) return false;
    space_bytes -= bytes;
    return true;
  }
  void heal() {
    append = sync = Error::none;
    full_from = syncs_fail_from = space_bytes = INT64_MAX;
    low = low_for_compaction = false;
  }

  rocksdb::IOStatus take(const std::atomic<Error>& which) {
    switch (which.load()) {
      case Error::none:
        return rocksdb::IOStatus::OK();
      case Error::no_space:
        ++hits;
        return no_space();
      case Error::io:
        ++hits;
        return rocksdb::IOStatus::IOError("the test's device failed");
    }
    return rocksdb::IOStatus::OK();
  }
};

class FaultyFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  FaultyFile(std::unique_ptr<rocksdb::FSWritableFile> file, std::shared_ptr<DiskFault> fault)
      : FSWritableFileOwnerWrapper(std::move(file)), fault_(std::move(fault)) {}

  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                           rocksdb::IODebugContext* debug) override {
    if (auto failed = fault_->grow(data.size()); !failed.ok()) {
      // A full disk takes a part.
      if (fault_->space_bytes != INT64_MAX) return failed;
      (void)target()->Append(rocksdb::Slice(data.data(), data.size() / 2), options, debug);
      return failed;
    }
    return target()->Append(data, options, debug);
  }
  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                           const rocksdb::DataVerificationInfo&,
                           rocksdb::IODebugContext* debug) override {
    return Append(data, options, debug);
  }
  rocksdb::IOStatus Sync(const rocksdb::IOOptions& options,
                         rocksdb::IODebugContext* debug) override {
    if (auto failed = fault_->take_sync(); !failed.ok()) return failed;
    return target()->Sync(options, debug);
  }
  rocksdb::IOStatus Fsync(const rocksdb::IOOptions& options,
                          rocksdb::IODebugContext* debug) override {
    if (auto failed = fault_->take_sync(); !failed.ok()) return failed;
    return target()->Fsync(options, debug);
  }

 private:
  std::shared_ptr<DiskFault> fault_;
};

class FaultyFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  FaultyFileSystem(const std::shared_ptr<rocksdb::FileSystem>& base,
                   std::shared_ptr<DiskFault> fault)
      : FileSystemWrapper(base), fault_(std::move(fault)) {}
  const char* Name() const override { return "FaultyFileSystem"; }

  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override {
    if (auto failed = fault_->grow(); !failed.ok()) return failed;
    if (fault_->hold_tables && name.ends_with(".sst")) {
      ++fault_->held;
      fault_->hold_tables.wait(true);
    }
    rocksdb::IOStatus made = target()->NewWritableFile(name, options, file, debug);
    if (made.ok()) *file = std::make_unique<FaultyFile>(std::move(*file), fault_);
    return made;
  }
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override {
    if (auto failed = fault_->grow(); !failed.ok()) return failed;
    return target()->RenameFile(from, to, options, debug);
  }
  rocksdb::IOStatus DeleteFile(const std::string& name, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override {
    uint64_t bytes = 0;
    if (!target()->GetFileSize(name, options, &bytes, debug).ok()) bytes = 0;
    rocksdb::IOStatus deleted = target()->DeleteFile(name, options, debug);
    if (deleted.ok()) fault_->use(-static_cast<int64_t>(bytes));
    return deleted;
  }
  rocksdb::IOStatus LinkFile(const std::string& from, const std::string& to,
                             const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* debug) override {
    if (auto failed = fault_->grow(); !failed.ok()) return failed;
    return target()->LinkFile(from, to, options, debug);
  }
  rocksdb::IOStatus CreateDir(const std::string& name, const rocksdb::IOOptions& options,
                              rocksdb::IODebugContext* debug) override {
    if (auto failed = fault_->grow(); !failed.ok()) return failed;
    return target()->CreateDir(name, options, debug);
  }

 private:
  std::shared_ptr<DiskFault> fault_;
};

class FaultyVolume final : public volume::Volume {
 public:
  FaultyVolume(std::unique_ptr<volume::Volume> base, std::shared_ptr<DiskFault> fault)
      : base_(std::move(base)), fault_(std::move(fault)) {}

  Result<std::unique_ptr<volume::Claim>> claim(std::string_view name) override {
    return wrap(base_->claim(name));
  }
  Result<std::unique_ptr<volume::Claim>> take_over(std::string_view name) override {
    return wrap(base_->take_over(name));
  }
  bool exists(std::string_view name) const override { return base_->exists(name); }
  std::string place(std::string_view name) const override { return base_->place(name); }
  Result<std::vector<std::string>> list() const override { return base_->list(); }
  Status remove(std::string_view name, int64_t now_s) override {
    return base_->remove(name, now_s);
  }
  Result<bool> delete_removed(int64_t before_s) override { return base_->delete_removed(before_s); }
  Result<double> free_share() const override {
    const double set = fault_->free_share;
    return set < 0 ? base_->free_share() : Result<double>(set);
  }
  Status room(volume::Need need) override {
    if (!(need == volume::Need::growth ? fault_->low : fault_->low_for_compaction)) {
      return base_->room(need);
    }
    return fail(Code::read_only, "the test's disk is nearly full");
  }

 private:
  class FaultyClaim final : public volume::Claim {
   public:
    FaultyClaim(std::unique_ptr<volume::Claim> base, const std::shared_ptr<DiskFault>& fault)
        : base_(std::move(base)),
          file_system_(std::make_shared<FaultyFileSystem>(base_->file_system(), fault)) {}
    uint64_t epoch() const override { return base_->epoch(); }
    const std::shared_ptr<rocksdb::FileSystem>& file_system() const override {
      return file_system_;
    }
    const std::string& directory() const override { return base_->directory(); }
    uint64_t noted_lsn() const override { return base_->noted_lsn(); }
    Status note_lsn(uint64_t lsn, NoteIs note) override { return base_->note_lsn(lsn, note); }
    Result<std::string> clone_target(std::string_view name) override {
      return base_->clone_target(name);
    }

   private:
    std::unique_ptr<volume::Claim> base_;
    std::shared_ptr<rocksdb::FileSystem> file_system_;
  };

  Result<std::unique_ptr<volume::Claim>> wrap(Result<std::unique_ptr<volume::Claim>> claimed) {
    if (!claimed) return claimed;
    return std::make_unique<FaultyClaim>(std::move(*claimed), fault_);
  }

  std::unique_ptr<volume::Volume> base_;
  std::shared_ptr<DiskFault> fault_;
};

}  // namespace orrery::partition
