// See log_watch.h.
#include "partition/log_watch.h"

#include <atomic>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/thread_annotations.h"

namespace orrery::partition {
namespace {

constexpr std::string_view kExtension = ".log";

// RocksDB numbers its files, each higher than those before.
std::optional<uint64_t> log_number(std::string_view name) {
  if (!name.ends_with(kExtension)) return std::nullopt;
  name.remove_suffix(kExtension.size());
  uint64_t number = 0;
  auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

}  // namespace

struct LogWatch::State {
  // Where the newest log ends.
  struct End {
    uint64_t log = 0;
    uint64_t bytes = 0;
  };
  rocksdb::IOStatus ok() const {
    if (!failed.load(std::memory_order_acquire)) return rocksdb::IOStatus::OK();
    return rocksdb::IOStatus::IOError("an earlier log could not be synced");
  }
  bool is_newest(uint64_t log) {
    MutexLock lock(mutex);
    return !now || now->log == log;
  }

  Mutex mutex;
  std::optional<End> now ORRERY_GUARDED_BY(mutex);
  std::optional<End> acknowledged ORRERY_GUARDED_BY(mutex);
  std::atomic<bool> failed = false;  // to sync a log before the newest
};

// Any file that is written. Those that are no logs have no number.
class LogWatch::File final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  File(std::unique_ptr<rocksdb::FSWritableFile> file, std::optional<uint64_t> number,
       std::shared_ptr<State> state)
      : FSWritableFileOwnerWrapper(std::move(file)), number_(number), state_(std::move(state)) {}

  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                           rocksdb::IODebugContext* debug) override {
    if (auto ok = state_->ok(); !ok.ok()) return ok;
    return count(data, target()->Append(data, options, debug));
  }
  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                           const rocksdb::DataVerificationInfo& info,
                           rocksdb::IODebugContext* debug) override {
    if (auto ok = state_->ok(); !ok.ok()) return ok;
    return count(data, target()->Append(data, options, info, debug));
  }
  rocksdb::IOStatus Sync(const rocksdb::IOOptions& options,
                         rocksdb::IODebugContext* debug) override {
    return synced([&] { return target()->Sync(options, debug); });
  }
  rocksdb::IOStatus Fsync(const rocksdb::IOOptions& options,
                          rocksdb::IODebugContext* debug) override {
    return synced([&] { return target()->Fsync(options, debug); });
  }

 private:
  rocksdb::IOStatus count(const rocksdb::Slice& data, rocksdb::IOStatus appended) {
    if (!appended.ok() || !number_) return appended;
    MutexLock lock(state_->mutex);
    if (state_->now && state_->now->log == *number_) state_->now->bytes += data.size();
    return appended;
  }
  template <class Call>
  rocksdb::IOStatus synced(const Call& call) {
    if (!number_ || state_->is_newest(*number_)) {
      if (auto ok = state_->ok(); !ok.ok()) return ok;
      return call();
    }
    if (state_->ok().ok() && !call().ok()) state_->failed = true;
    return rocksdb::IOStatus::OK();
  }

  const std::optional<uint64_t> number_;
  const std::shared_ptr<State> state_;
};

class LogWatch::Watching final : public rocksdb::FileSystemWrapper {
 public:
  Watching(const std::shared_ptr<rocksdb::FileSystem>& base, const std::string& directory,
           std::shared_ptr<State> state)
      : FileSystemWrapper(base), prefix_(directory + "/"), state_(std::move(state)) {}
  const char* Name() const override { return "OrreryLogWatch"; }

  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override {
    if (auto ok = state_->ok(); !ok.ok()) return ok;
    rocksdb::IOStatus made = target()->NewWritableFile(path, options, file, debug);
    if (!made.ok()) return made;
    const auto number = path.starts_with(prefix_)
                            ? log_number(std::string_view(path).substr(prefix_.size()))
                            : std::nullopt;
    *file = std::make_unique<File>(std::move(*file), number, state_);
    if (!number) return made;
    MutexLock lock(state_->mutex);
    state_->now = {.log = *number, .bytes = 0};
    return made;
  }
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override {
    if (auto ok = state_->ok(); !ok.ok()) return ok;
    return target()->RenameFile(from, to, options, debug);
  }
  rocksdb::IOStatus LinkFile(const std::string& from, const std::string& to,
                             const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* debug) override {
    if (auto ok = state_->ok(); !ok.ok()) return ok;
    return target()->LinkFile(from, to, options, debug);
  }

 private:
  const std::string prefix_;
  const std::shared_ptr<State> state_;
};

LogWatch::LogWatch(const std::shared_ptr<rocksdb::FileSystem>& base, std::string directory)
    : directory_(std::move(directory)),
      base_(base),
      state_(std::make_shared<State>()),
      watching_(std::make_shared<Watching>(base_, directory_, state_)) {}

void LogWatch::acknowledge() {
  MutexLock lock(state_->mutex);
  if (state_->now) state_->acknowledged = state_->now;
}

rocksdb::IOStatus LogWatch::cut_back() {
  std::optional<State::End> end;
  {
    MutexLock lock(state_->mutex);
    end = state_->acknowledged;
  }
  state_->failed = false;
  if (!end) return rocksdb::IOStatus::OK();
  const rocksdb::IOOptions options;
  std::vector<std::string> names;
  rocksdb::IOStatus status = base_->GetChildren(directory_, options, &names, nullptr);
  for (size_t i = 0; status.ok() && i < names.size(); ++i) {
    const auto number = log_number(names[i]);
    if (!number || *number < end->log) continue;
    const uint64_t keep = *number == end->log ? end->bytes : 0;
    const std::string path = directory_ + "/" + names[i];
    uint64_t size = 0;
    status = base_->GetFileSize(path, options, &size, nullptr);
    if (!status.ok() || size <= keep) continue;
    // Synced, or a power cut would bring the failed commit back beside those that follow it.
    std::unique_ptr<rocksdb::FSWritableFile> file;
    status = base_->ReopenWritableFile(path, {}, &file, nullptr);
    if (status.ok()) status = file->Truncate(keep, options, nullptr);
    if (status.ok()) status = file->Fsync(options, nullptr);
    if (status.ok()) status = file->Close(options, nullptr);
  }
  return status;
}

}  // namespace orrery::partition
