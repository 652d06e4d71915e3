// Wraps each mutating call of rocksdb::FileSystem and of its writable files. Reads are not fenced:
// a deposed owner can still read its open files, and the layer above must stop serving them. The
// wrapper also reports to Progress how many bytes of the logs and manifests in the owner's
// directory are durable, and which of them are about to be deleted or truncated.
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

// Before bytes of a file go.
IOStatus shrink(Progress& progress, const std::optional<TrackedFile>& file, uint64_t bytes) {
  if (!file) return IOStatus::OK();
  Status noted = progress.shrink(*file, bytes);
  return noted ? IOStatus::OK() : IOStatus::IOError(noted.error().message);
}

template <class Call>
IOStatus guarded(Fence& fence, Call&& call) {
  Fence::Pass pass(fence);
  return pass.ok() ? std::forward<Call>(call)() : deposed();
}

class FencedWritableFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  FencedWritableFile(std::unique_ptr<FSWritableFile> file, std::shared_ptr<Fence> fence,
                     std::shared_ptr<Progress> progress, std::optional<TrackedFile> tracked)
      : FSWritableFileOwnerWrapper(std::move(file)),
        fence_(std::move(fence)),
        progress_(std::move(progress)),
        tracked_(tracked) {}

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
    return guarded(*fence_, [&] {
      if (IOStatus noted = shrink(*progress_, tracked_, size); !noted.ok()) return noted;
      return target()->Truncate(size, options, debug);
    });
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
    return note_synced(guarded(*fence_, [&] { return target()->Sync(options, debug); }), options);
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return note_synced(guarded(*fence_, [&] { return target()->Fsync(options, debug); }), options);
  }

 private:
  IOStatus note_synced(IOStatus status, const IOOptions& options) {
    if (status.ok() && tracked_) progress_->synced(*tracked_, GetFileSize(options, nullptr));
    return status;
  }

  std::shared_ptr<Fence> fence_;
  std::shared_ptr<Progress> progress_;
  const std::optional<TrackedFile> tracked_;
};

class FencedFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  FencedFileSystem(const std::shared_ptr<rocksdb::FileSystem>& base, std::shared_ptr<Fence> fence,
                   std::shared_ptr<Progress> progress, std::string directory)
      : FileSystemWrapper(base),
        fence_(std::move(fence)),
        progress_(std::move(progress)),
        directory_(std::move(directory)) {}

  const char* Name() const override { return "OrreryFencedFileSystem"; }

  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* result,
                           IODebugContext* debug) override {
    return wrap(name,
                guarded(*fence_,
                        [&] {
                          if (IOStatus noted = going(name); !noted.ok()) return noted;
                          return target()->NewWritableFile(name, options, result, debug);
                        }),
                result);
  }
  IOStatus ReopenWritableFile(const std::string& name, const FileOptions& options,
                              std::unique_ptr<FSWritableFile>* result,
                              IODebugContext* debug) override {
    return wrap(name,
                guarded(*fence_,
                        [&] { return target()->ReopenWritableFile(name, options, result, debug); }),
                result);
  }
  IOStatus ReuseWritableFile(const std::string& name, const std::string& old_name,
                             const FileOptions& options, std::unique_ptr<FSWritableFile>* result,
                             IODebugContext* debug) override {
    return wrap(name,
                guarded(*fence_,
                        [&] {
                          if (IOStatus noted = going(old_name); !noted.ok()) return noted;
                          return target()->ReuseWritableFile(name, old_name, options, result,
                                                             debug);
                        }),
                result);
  }
  IOStatus NewRandomRWFile(const std::string&, const FileOptions&, std::unique_ptr<FSRandomRWFile>*,
                           IODebugContext*) override {
    return IOStatus::NotSupported("files that are rewritten in place are not used here");
  }
  IOStatus DeleteFile(const std::string& name, const IOOptions& options,
                      IODebugContext* debug) override {
    return guarded(*fence_, [&] {
      if (IOStatus noted = going(name); !noted.ok()) return noted;
      return target()->DeleteFile(name, options, debug);
    });
  }
  IOStatus Truncate(const std::string& name, size_t size, const IOOptions& options,
                    IODebugContext* debug) override {
    return guarded(*fence_, [&] {
      if (IOStatus noted = shrink(*progress_, tracked_file(directory_, name), size); !noted.ok()) {
        return noted;
      }
      return target()->Truncate(name, size, options, debug);
    });
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
    return guarded(*fence_, [&] {
      if (IOStatus noted = going(from); !noted.ok()) return noted;
      return target()->RenameFile(from, to, options, debug);
    });
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

  IOStatus wrap(const std::string& name, IOStatus status, std::unique_ptr<FSWritableFile>* file) {
    if (status.ok()) {
      *file = std::make_unique<FencedWritableFile>(std::move(*file), fence_, progress_,
                                                   tracked_file(directory_, name));
    }
    return status;
  }
  // What is under this name is about to go.
  IOStatus going(const std::string& name) {
    return shrink(*progress_, tracked_file(directory_, name), 0);
  }

  std::shared_ptr<Fence> fence_;
  std::shared_ptr<Progress> progress_;
  const std::string directory_;
};

}  // namespace

std::shared_ptr<rocksdb::FileSystem> make_fenced_file_system(
    const std::shared_ptr<rocksdb::FileSystem>& base, std::shared_ptr<Fence> fence,
    std::shared_ptr<Progress> progress, std::string directory) {
  return std::make_shared<FencedFileSystem>(base, std::move(fence), std::move(progress),
                                            std::move(directory));
}

}  // namespace orrery::volume
