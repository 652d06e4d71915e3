// See compaction_guard.h.
#include "partition/compaction_guard.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "base/thread_annotations.h"

namespace orrery::partition {
namespace {

constexpr int64_t kWaitLeastUs = 1'000'000;
constexpr int64_t kWaitMostUs = 60'000'000;

class Guard {
 public:
  Guard(volume::Volume& volume, const Clock& clock) : volume_(volume), clock_(clock) {}

  rocksdb::IOStatus may_compact() {
    const bool room = volume_.room(volume::Need::compaction).has_value();
    const int64_t now_us = clock_.steady_us();
    MutexLock lock(mutex_);
    if (room && now_us >= not_before_us_) {
      if (now_us >= not_before_us_ + kWaitMostUs) wait_us_ = kWaitLeastUs;  // it went well
      return rocksdb::IOStatus::OK();
    }
    if (now_us >= not_before_us_) {
      not_before_us_ = now_us + wait_us_;
      wait_us_ = std::min(wait_us_ * 2, kWaitMostUs);
    }
    return rocksdb::IOStatus::NoSpace("the disk is too full for a compaction");
  }

 private:
  volume::Volume& volume_;
  const Clock& clock_;
  Mutex mutex_;
  int64_t not_before_us_ ORRERY_GUARDED_BY(mutex_) = 0;
  int64_t wait_us_ ORRERY_GUARDED_BY(mutex_) = kWaitLeastUs;
};

class Table final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  Table(std::unique_ptr<rocksdb::FSWritableFile> file, std::shared_ptr<Guard> guard)
      : FSWritableFileOwnerWrapper(std::move(file)), guard_(std::move(guard)) {}

  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                           rocksdb::IODebugContext* debug) override {
    if (auto refused = check(); !refused.ok()) return refused;
    return target()->Append(data, options, debug);
  }
  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                           const rocksdb::DataVerificationInfo& info,
                           rocksdb::IODebugContext* debug) override {
    if (auto refused = check(); !refused.ok()) return refused;
    return target()->Append(data, options, info, debug);
  }

 private:
  rocksdb::IOStatus check() {
    return GetIOPriority() == rocksdb::Env::IO_LOW ? guard_->may_compact()
                                                   : rocksdb::IOStatus::OK();
  }

  const std::shared_ptr<Guard> guard_;
};

class Guarding final : public rocksdb::FileSystemWrapper {
 public:
  Guarding(const std::shared_ptr<rocksdb::FileSystem>& base, std::shared_ptr<Guard> guard)
      : FileSystemWrapper(base), guard_(std::move(guard)) {}
  const char* Name() const override { return "OrreryCompactionGuard"; }

  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override {
    rocksdb::IOStatus made = target()->NewWritableFile(path, options, file, debug);
    if (made.ok() && path.ends_with(".sst")) {
      *file = std::make_unique<Table>(std::move(*file), guard_);
    }
    return made;
  }

 private:
  const std::shared_ptr<Guard> guard_;
};

}  // namespace

std::shared_ptr<rocksdb::FileSystem> make_compaction_guard(
    const std::shared_ptr<rocksdb::FileSystem>& base, volume::Volume& volume, const Clock& clock) {
  return std::make_shared<Guarding>(base, std::make_shared<Guard>(volume, clock));
}

}  // namespace orrery::partition
