// Wraps each mutating call of rocksdb::FileSystem and of its writable files. Reads pass through:
// a deposed owner may still read what it has open, and serving them is for the layer above to stop.
#include "volume/local/fenced_file_system.h"

#include <utility>

namespace orrery::volume {
namespace {

using rocksdb::FileOptions;
using rocksdb::FSRandomRWFile;
using rocksdb::FSWritableFile;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

IOStatus deposed() {
  return IOStatus::IOFenced("another owner has taken this partition over");
}

template <class Call>
IOStatus guarded(Fence& fence, Call&& call) {
  Fence::Pass pass(fence);
  return pass.ok() ? std::forward<Call>(call)() : deposed();
}

class FencedWritableFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  FencedWritableFile(std::unique_ptr<FSWritableFile> file, std::shared_ptr<Fence> fence)
      : FSWritableFileOwnerWrapper(std::move(file)), fence_(std::move(fence)) {}

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
    return guarded(*fence_, [&] { return target()->Append(data, options, debug); });
  }
  IOStatus Append(const Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& info, IODebugContext* debug) override {
    return guarded(*fence_, [&] { return target()->Append(data, options, info, debug); });
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            IODebugContext* debug) override {
    return guarded(*fence_,
                   [&] { return target()->PositionedAppend(data, offset, options, debug); });
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            const rocksdb::DataVerificationInfo& info,
                            IODebugContext* debug) override {
    return guarded(*fence_,
                   [&] { return target()->PositionedAppend(data, offset, options, info, debug); });
  }
  IOStatus Truncate(uint64_t size, const IOOptions& options, IODebugContext* debug) override {
    return guarded(*fence_, [&] { return target()->Truncate(size, options, debug); });
  }
  IOStatus Close(const IOOptions& options, IODebugContext* debug) override {
    // Closing frees the descriptor and is allowed to anyone; only its flush needs the fence.
    Fence::Pass pass(*fence_);
    IOStatus status = target()->Close(options, debug);
    return pass.ok() ? status : deposed();
  }
  IOStatus Allocate(uint64_t offset, uint64_t size, const IOOptions& options,
                    IODebugContext* debug) override {
    return guarded(*fence_, [&] { return target()->Allocate(offset, size, options, debug); });
  }
  IOStatus Flush(const IOOptions& options, IODebugContext* debug) override {
    return guarded(*fence_, [&] { return target()->Flush(options, debug); });
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    return guarded(*fence_, [&] { return target()->Sync(options, debug); });
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return guarded(*fence_, [&] { return target()->Fsync(options, debug); });
  }

 private:
  std::shared_ptr<Fence> fence_;
};

class FencedFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  FencedFileSystem(const std::shared_ptr<rocksdb::FileSystem>& base, std::shared_ptr<Fence> fence)
      : FileSystemWrapper(base), fence_(std::move(fence)) {}

  const char* Name() const override { return "OrreryFencedFileSystem"; }

  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* result,
                           IODebugContext* debug) override {
    return wrap(
        guarded(*fence_, [&] { return target()->NewWritableFile(name, options, result, debug); }),
        result);
  }
  IOStatus ReopenWritableFile(const std::string& name, const FileOptions& options,
                              std::unique_ptr<FSWritableFile>* result,
                              IODebugContext* debug) override {
    return wrap(guarded(*fence_,
                        [&] { return target()->ReopenWritableFile(name, options, result, debug); }),
                result);
  }
  IOStatus ReuseWritableFile(const std::string& name, const std::string& old_name,
                             const FileOptions& options, std::unique_ptr<FSWritableFile>* result,
                             IODebugContext* debug) override {
    return wrap(
        guarded(
            *fence_,
            [&] { return target()->ReuseWritableFile(name, old_name, options, result, debug); }),
        result);
  }
  IOStatus NewRandomRWFile(const std::string&, const FileOptions&, std::unique_ptr<FSRandomRWFile>*,
                           IODebugContext*) override {
    return IOStatus::NotSupported("files that are rewritten in place are not used here");
  }
  IOStatus DeleteFile(const std::string& name, const IOOptions& options,
                      IODebugContext* debug) override {
    return guarded(*fence_, [&] { return target()->DeleteFile(name, options, debug); });
  }
  IOStatus Truncate(const std::string& name, size_t size, const IOOptions& options,
                    IODebugContext* debug) override {
    return guarded(*fence_, [&] { return target()->Truncate(name, size, options, debug); });
  }
  IOStatus CreateDir(const std::string& name, const IOOptions& options,
                     IODebugContext* debug) override {
    return guarded(*fence_, [&] { return target()->CreateDir(name, options, debug); });
  }
  IOStatus CreateDirIfMissing(const std::string& name, const IOOptions& options,
                              IODebugContext* debug) override {
    return guarded(*fence_, [&] { return target()->CreateDirIfMissing(name, options, debug); });
  }
  IOStatus DeleteDir(const std::string& name, const IOOptions& options,
                     IODebugContext* debug) override {
    return guarded(*fence_, [&] { return target()->DeleteDir(name, options, debug); });
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* debug) override {
    return guarded(*fence_, [&] { return target()->RenameFile(from, to, options, debug); });
  }
  IOStatus LinkFile(const std::string& from, const std::string& to, const IOOptions& options,
                    IODebugContext* debug) override {
    return guarded(*fence_, [&] { return target()->LinkFile(from, to, options, debug); });
  }
  // The claim is the lock; RocksDB's own would keep a new owner in the same process out.
  IOStatus LockFile(const std::string&, const IOOptions&, rocksdb::FileLock** lock,
                    IODebugContext*) override {
    *lock = new NoLock();
    return IOStatus::OK();
  }
  IOStatus UnlockFile(rocksdb::FileLock* lock, const IOOptions&, IODebugContext*) override {
    delete lock;
    return IOStatus::OK();
  }

 private:
  class NoLock final : public rocksdb::FileLock {};

  IOStatus wrap(IOStatus status, std::unique_ptr<FSWritableFile>* file) {
    if (status.ok()) *file = std::make_unique<FencedWritableFile>(std::move(*file), fence_);
    return status;
  }

  std::shared_ptr<Fence> fence_;
};

}  // namespace

std::shared_ptr<rocksdb::FileSystem> make_fenced_file_system(
    const std::shared_ptr<rocksdb::FileSystem>& base, std::shared_ptr<Fence> fence) {
  return std::make_shared<FencedFileSystem>(base, std::move(fence));
}

}  // namespace orrery::volume
