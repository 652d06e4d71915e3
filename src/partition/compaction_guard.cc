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

}  // namespace

struct CompactionGuard::State {
  State(volume::Volume& volume_in, const Clock& clock_in) : volume(volume_in), clock(clock_in) {}

  rocksdb::IOStatus may_compact() {
    const bool room = volume.room(volume::Need::compaction).has_value();
    const int64_t now_us = clock.steady_us();
    MutexLock lock(mutex);
    if (room && now_us >= not_before_us) {
      if (now_us >= not_before_us + kWaitMostUs) wait_us = kWaitLeastUs;  // it went well
      return rocksdb::IOStatus::OK();
    }
    if (now_us >= not_before_us) {
      not_before_us = now_us + wait_us;
      wait_us = std::min(wait_us * 2, kWaitMostUs);
    }
    return rocksdb::IOStatus::NoSpace("the disk is too full for a compaction");
  }

  volume::Volume& volume;
  const Clock& clock;
  Mutex mutex;
  int64_t not_before_us ORRERY_GUARDED_BY(mutex) = 0;
  int64_t wait_us ORRERY_GUARDED_BY(mutex) = kWaitLeastUs;
};

class CompactionGuard::Table final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  Table(std::unique_ptr<rocksdb::FSWritableFile> file, std::shared_ptr<State> state)
      : FSWritableFileOwnerWrapper(std::move(file)), state_(std::move(state)) {}

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
    return GetIOPriority() == rocksdb::Env::IO_LOW ? state_->may_compact()
                                                   : rocksdb::IOStatus::OK();
  }

  const std::shared_ptr<State> state_;
};

class CompactionGuard::Guarding final : public rocksdb::FileSystemWrapper {
 public:
  Guarding(const std::shared_ptr<rocksdb::FileSystem>& base, std::shared_ptr<State> state)
      : FileSystemWrapper(base), state_(std::move(state)) {}
  const char* Name() const override { return "OrreryCompactionGuard"; }

  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override {
    rocksdb::IOStatus made = target()->NewWritableFile(path, options, file, debug);
    if (made.ok() && path.ends_with(".sst")) {
      *file = std::make_unique<Table>(std::move(*file), state_);
    }
    return made;
  }

 private:
  const std::shared_ptr<State> state_;
};

CompactionGuard::CompactionGuard(const std::shared_ptr<rocksdb::FileSystem>& base,
                                 volume::Volume& volume, const Clock& clock)
    : state_(std::make_shared<State>(volume, clock)),
      guarding_(std::make_shared<Guarding>(base, state_)) {}

void CompactionGuard::try_again() {
  MutexLock lock(state_->mutex);
  state_->not_before_us = 0;
  state_->wait_us = kWaitLeastUs;
}

}  // namespace orrery::partition
