// See object_file_system.h.
#include "volume/objects/object_file_system.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "base/log.h"
#include "volume/objects/file_tokens.h"
#include "volume/objects/object_files.h"
#include "volume/objects/open_files.h"

namespace orrery::volume {
namespace {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

constexpr size_t kLinksAtOnce = 8;

int64_t now_s() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

bool is_log(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.ends_with(".log") || name.starts_with("MANIFEST-");
}

// With one slash between any two names, and none at the end.
std::string cleaned(std::string_view path) {
  std::string clean;
  for (const char c : path) {
    if (c != '/' || clean.empty() || clean.back() != '/') clean += c;
  }
  if (clean.size() > 1 && clean.back() == '/') clean.pop_back();
  return clean;
}

IOStatus not_found(const std::string& path) {
  return IOStatus::PathNotFound(path, "no such file");
}

class HeldLock final : public rocksdb::FileLock {
 public:
  explicit HeldLock(std::string path_in) : path(std::move(path_in)) {}
  const std::string path;
};

}  // namespace

class ObjectFileSystem final : public rocksdb::FileSystem {
 public:
  ObjectFileSystem(std::string partition, std::shared_ptr<Root> root,
                   std::shared_ptr<BlockCache> cache)
      : cache_(std::move(cache)) {
    roots_.emplace(std::move(partition), std::move(root));
  }

  const char* Name() const override { return "OrreryObjects"; }

  void add(const std::string& partition, std::shared_ptr<Root> root) {
    MutexLock lock(mutex_);
    roots_.insert_or_assign(partition, std::move(root));
  }

  // --- opening ---------------------------------------------------------------------------------
  IOStatus NewSequentialFile(const std::string& path, const FileOptions&,
                             std::unique_ptr<rocksdb::FSSequentialFile>* result,
                             IODebugContext*) override {
    auto reader = open_reader(path);
    if (!reader) return to_io_status(reader.error());
    // A log that another process writes is read on as it grows.
    ObjectSequentialFile::Reopen reopen;
    const auto at = locate(path);
    if (is_log(path) && at && at->root->standing() != Standing::owner) {
      reopen = [this, path] { return open_reader(path); };
    }
    *result = std::make_unique<ObjectSequentialFile>(std::move(*reader), std::move(reopen));
    return IOStatus::OK();
  }

  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions&,
                               std::unique_ptr<rocksdb::FSRandomAccessFile>* result,
                               IODebugContext*) override {
    auto reader = open_reader(path);
    if (!reader) return to_io_status(reader.error());
    *result = std::make_unique<ObjectRandomAccessFile>(std::move(*reader));
    return IOStatus::OK();
  }

  IOStatus NewWritableFile(const std::string& path, const FileOptions&,
                           std::unique_ptr<rocksdb::FSWritableFile>* result,
                           IODebugContext*) override {
    auto at = locate(path);
    if (!at) return not_found(path);
    if (IOStatus linked = finish_links(*at->root); !linked.ok()) return linked;
    FileEntry entry{.made_s = now_s()};
    if (is_log(path)) {
      entry.kind = FileEntry::Kind::log;
      entry.file = at->root->new_file();
      entry.extents.emplace_back();
    }
    const std::optional<FileEntry> before = at->root->find(at->path);
    if (Outcome put = at->root->put(at->path, entry); !put.is_done()) {
      return to_io_status(put, "make a file");
    }
    if (before) drop_file(at->root->store(), *before);
    return open_writer(path, *at, std::move(entry), result);
  }

  IOStatus ReopenWritableFile(const std::string& path, const FileOptions& options,
                              std::unique_ptr<rocksdb::FSWritableFile>* result,
                              IODebugContext* debug) override {
    auto at = locate(path);
    if (!at) return not_found(path);
    auto entry = at->root->find(at->path);
    if (!entry) return NewWritableFile(path, options, result, debug);
    if (at->root->standing() != Standing::owner) return fenced();
    if (entry->kind != FileEntry::Kind::log) return reopen_whole(path, *at, result);
    // What is there stays as it is: appends go to a new extent.
    auto reader = FileReader::open(at->root->store(), *entry);
    if (!reader) return to_io_status(reader.error());
    uint64_t before = 0;
    for (const std::optional<uint64_t>& size : entry->extents) before += size.value_or(0);
    if (!entry->extents.back()) entry->extents.back() = (*reader)->size() - before;
    entry->extents.emplace_back();
    if (Outcome put = at->root->put(at->path, *entry); !put.is_done()) {
      return to_io_status(put, "open a log again");
    }
    return open_writer(path, *at, std::move(*entry), result);
  }

  IOStatus ReuseWritableFile(const std::string& path, const std::string& old_path,
                             const FileOptions& options,
                             std::unique_ptr<rocksdb::FSWritableFile>* result,
                             IODebugContext* debug) override {
    if (IOStatus renamed = RenameFile(old_path, path, options.io_options, debug); !renamed.ok()) {
      return renamed;
    }
    return NewWritableFile(path, options, result, debug);
  }

  IOStatus NewDirectory(const std::string& path, const IOOptions&,
                        std::unique_ptr<rocksdb::FSDirectory>* result, IODebugContext*) override {
    if (!is_directory(path)) return not_found(path);
    *result = std::make_unique<ObjectDirectory>();
    return IOStatus::OK();
  }

  // --- names -----------------------------------------------------------------------------------
  IOStatus FileExists(const std::string& path, const IOOptions&, IODebugContext*) override {
    if (is_directory(path) || find(path)) return IOStatus::OK();
    return IOStatus::NotFound(path);
  }

  IOStatus GetChildren(const std::string& path, const IOOptions&, std::vector<std::string>* names,
                       IODebugContext*) override {
    auto at = locate(path);
    if (!at || !is_directory(path)) return not_found(path);
    *names = at->root->children(at->path);
    return IOStatus::OK();
  }

  IOStatus DeleteFile(const std::string& path, const IOOptions&, IODebugContext*) override {
    auto at = locate(path);
    if (!at) return not_found(path);
    if (at->root->standing() != Standing::owner) return fenced();
    const std::optional<FileEntry> entry = at->root->find(at->path);
    if (!entry) return not_found(path);
    if (Outcome erased = at->root->erase(at->path); !erased.is_done()) {
      return to_io_status(erased, "delete a file");
    }
    drop_file(at->root->store(), *entry);
    return IOStatus::OK();
  }

  IOStatus Truncate(const std::string& path, size_t size, const IOOptions& options,
                    IODebugContext* debug) override {
    std::unique_ptr<rocksdb::FSWritableFile> file;
    IOStatus status = ReopenWritableFile(path, FileOptions(), &file, debug);
    if (status.ok()) status = file->Truncate(size, options, debug);
    if (status.ok()) status = file->Close(options, debug);
    return status;
  }

  IOStatus CreateDir(const std::string& path, const IOOptions&, IODebugContext*) override {
    auto at = locate(path);
    if (!at) return not_found(path);
    if (at->root->standing() == Standing::owner && at->root->has_directory(at->path)) {
      return IOStatus::IOError(path, "there is such a directory");
    }
    return to_io_status(at->root->make_directory(at->path), "make a directory");
  }

  IOStatus CreateDirIfMissing(const std::string& path, const IOOptions&, IODebugContext*) override {
    auto at = locate(path);
    if (!at) return not_found(path);
    // Also when it is there: RocksDB begins with this, and learns at once that it was deposed.
    return to_io_status(at->root->make_directory(at->path), "make a directory");
  }

  IOStatus DeleteDir(const std::string& path, const IOOptions&, IODebugContext*) override {
    auto at = locate(path);
    if (!at) return not_found(path);
    if (at->root->standing() != Standing::owner) return fenced();
    if (!at->root->has_directory(at->path)) return not_found(path);
    if (!at->root->children(at->path).empty()) return IOStatus::IOError(path, "it is not empty");
    return to_io_status(at->root->erase_directory(at->path), "delete a directory");
  }

  IOStatus GetFileSize(const std::string& path, const IOOptions&, uint64_t* size,
                       IODebugContext*) override {
    if (auto writer = writer_of(path)) {
      *size = writer->size();
      return IOStatus::OK();
    }
    auto reader = open_reader(path);
    if (!reader) return to_io_status(reader.error());
    *size = (*reader)->size();
    return IOStatus::OK();
  }

  IOStatus GetFileModificationTime(const std::string& path, const IOOptions&, uint64_t* time,
                                   IODebugContext*) override {
    const auto entry = find(path);
    if (!entry) return not_found(path);
    *time = static_cast<uint64_t>(entry->made_s);
    return IOStatus::OK();
  }

  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions&,
                      IODebugContext*) override {
    auto source = locate(from);
    auto target = locate(to);
    if (!source || !target) return not_found(from);
    if (source->root->standing() != Standing::owner) return fenced();
    if (source->root != target->root) {
      return IOStatus::NotSupported("a file is not moved between partitions");
    }
    if (!source->root->find(source->path) && !source->root->has_directory(source->path)) {
      return not_found(from);
    }
    // The writer must not enter it under its old name any more.
    auto writer = writer_of(from);
    if (writer) {
      if (IOStatus synced = writer->sync(); !synced.ok()) return synced;
    }
    const std::optional<FileEntry> replaced = target->root->find(target->path);
    if (Outcome renamed = source->root->rename(source->path, target->path); !renamed.is_done()) {
      return to_io_status(renamed, "rename a file");
    }
    if (replaced) drop_file(target->root->store(), *replaced);
    // RocksDB makes a clone in a directory beside the right one, and renames that when it is whole.
    if (target->root->holds_entries() && target->root->has_directory(target->path)) {
      if (IOStatus linked = finish_links(*target->root); !linked.ok()) return linked;
      if (Outcome published = target->root->publish(); !published.is_done()) {
        return to_io_status(published, "enter the files of a clone");
      }
    }
    if (writer) {
      writer->moved(target->path);
      MutexLock lock(mutex_);
      writers_.erase(cleaned(from));
      writers_[cleaned(to)] = writer;
    }
    return IOStatus::OK();
  }

  IOStatus LinkFile(const std::string& from, const std::string& to, const IOOptions& options,
                    IODebugContext* debug) override {
    auto source = locate(from);
    auto target = locate(to);
    if (!source || !target) return not_found(from);
    if (source->root->standing() != Standing::owner) return fenced();
    if (auto writer = writer_of(from)) {
      if (IOStatus synced = writer->sync(); !synced.ok()) return synced;
    }
    auto entry = source->root->find(source->path);
    if (!entry) return not_found(from);
    if (target->root->find(target->path)) return IOStatus::IOError(to, "there is such a file");
    // A log has one owner. It is short, as a clone is made right after the memtables were flushed.
    if (entry->kind == FileEntry::Kind::log) return copy(from, to, options, debug);
    if (entry->kind == FileEntry::Kind::stripes) {
      entry->token = target->root->new_token();
      if (target->root->holds_entries()) {
        MutexLock lock(mutex_);
        links_[target->root.get()].push_back(*entry);
      } else {
        auto added = add_token(source->root->store(), *entry);
        if (!added) return to_io_status(added.error());
        if (!*added) return not_found(from);
      }
    }
    // Should this fail, the token is of an epoch that has no such entry, and a sweep removes it.
    return to_io_status(target->root->put(target->path, *entry), "link a file");
  }

  IOStatus NumFileLinks(const std::string& path, const IOOptions&, uint64_t* count,
                        IODebugContext*) override {
    auto at = locate(path);
    auto entry = find(path);
    if (!at || !entry) return not_found(path);
    *count = 1;
    if (entry->kind != FileEntry::Kind::stripes) return IOStatus::OK();
    auto state = at->root->store().inspect(entry->object(0));
    if (!state) return to_io_status(state.error());
    *count = static_cast<uint64_t>(std::ranges::count(state->attribute(kRefs), ' '));
    return IOStatus::OK();
  }

  IOStatus AreFilesSame(const std::string& one, const std::string& other, const IOOptions&,
                        bool* same, IODebugContext*) override {
    auto first = find(one);
    auto second = find(other);
    if (!first || !second) return not_found(one);
    *same =
        first->kind == second->kind && first->file == second->file && first->bytes == second->bytes;
    return IOStatus::OK();
  }

  IOStatus IsDirectory(const std::string& path, const IOOptions&, bool* directory,
                       IODebugContext*) override {
    *directory = is_directory(path);
    return *directory || find(path) ? IOStatus::OK() : not_found(path);
  }

  // --- the rest --------------------------------------------------------------------------------
  // The claim is the lock of all processes. This one is for those in this process.
  IOStatus LockFile(const std::string& path, const IOOptions&, rocksdb::FileLock** held,
                    IODebugContext*) override {
    MutexLock lock(mutex_);
    if (!locked_.insert(path).second) return IOStatus::IOError(path, "it is locked");
    *held = new HeldLock(path);
    return IOStatus::OK();
  }
  IOStatus UnlockFile(rocksdb::FileLock* held, const IOOptions&, IODebugContext*) override {
    const std::unique_ptr<HeldLock> lock_file(static_cast<HeldLock*>(held));
    MutexLock lock(mutex_);
    locked_.erase(lock_file->path);
    return IOStatus::OK();
  }
  IOStatus GetTestDirectory(const IOOptions&, std::string* path, IODebugContext*) override {
    *path = "/test";
    return IOStatus::OK();
  }
  IOStatus GetAbsolutePath(const std::string& path, const IOOptions&, std::string* absolute,
                           IODebugContext*) override {
    *absolute = path;
    return IOStatus::OK();
  }
  IOStatus NewLogger(const std::string& path, const IOOptions&, std::shared_ptr<rocksdb::Logger>*,
                     IODebugContext*) override {
    return IOStatus::NotSupported(path, "RocksDB's own log is the program's");
  }

 private:
  struct Location {
    std::shared_ptr<Root> root;
    std::string path;  // within the partition
  };
  // /PARTITION/PATH.
  std::optional<Location> locate(const std::string& path) const {
    const std::string clean = cleaned(path);
    if (!clean.starts_with('/')) return std::nullopt;
    const size_t slash = clean.find('/', 1);
    if (slash == std::string::npos) return std::nullopt;
    MutexLock lock(mutex_);
    const auto root = roots_.find(clean.substr(1, slash - 1));
    if (root == roots_.end()) return std::nullopt;
    return Location{.root = root->second, .path = clean.substr(slash + 1)};
  }

  // Another owner's files are read from its root.
  std::optional<FileEntry> find(const std::string& path) const {
    auto at = locate(path);
    if (!at) return std::nullopt;
    auto entry = at->root->find(at->path);
    if (entry || at->root->standing() == Standing::owner) return entry;
    (void)at->root->reload();
    return at->root->find(at->path);
  }

  bool is_directory(const std::string& path) const {
    auto at = locate(path);
    return at && at->root->has_directory(at->path);
  }

  std::shared_ptr<FileWriter> writer_of(const std::string& path) const {
    MutexLock lock(mutex_);
    const auto found = writers_.find(cleaned(path));
    return found == writers_.end() ? nullptr : found->second.lock();
  }

  Result<std::shared_ptr<FileReader>> open_reader(const std::string& path) const {
    auto at = locate(path);
    if (!at) return fail(Code::not_found, fmt::format("{} is in no partition of this claim", path));
    if (auto writer = writer_of(path); writer && at->root->standing() == Standing::owner) {
      if (IOStatus synced = writer->sync(); !synced.ok()) {
        return fail(Code::internal, synced.ToString());
      }
    }
    auto entry = find(path);
    if (!entry) return fail(Code::not_found, fmt::format("there is no file {}", path));
    return FileReader::open(at->root->store(), std::move(*entry), cache_);
  }

  IOStatus open_writer(const std::string& path, const Location& at, FileEntry entry,
                       std::unique_ptr<rocksdb::FSWritableFile>* result) {
    std::shared_ptr<FileWriter> writer =
        entry.kind == FileEntry::Kind::log ? make_log_writer(at.root, at.path, std::move(entry))
                                           : make_table_writer(at.root, at.path, std::move(entry));
    {
      MutexLock lock(mutex_);
      std::erase_if(writers_, [](const auto& one) { return one.second.expired(); });
      writers_[cleaned(path)] = writer;
    }
    *result = std::make_unique<ObjectWritableFile>(std::move(writer));
    return IOStatus::OK();
  }

  // A table is written anew, with what it had.
  IOStatus reopen_whole(const std::string& path, const Location& at,
                        std::unique_ptr<rocksdb::FSWritableFile>* result) {
    auto reader = open_reader(path);
    if (!reader) return to_io_status(reader.error());
    std::string bytes((*reader)->size(), '\0');
    if (auto got = (*reader)->read(0, bytes); !got) return to_io_status(got.error());
    const std::optional<FileEntry> before = at.root->find(at.path);
    FileEntry entry{.made_s = now_s()};
    IOStatus opened = open_writer(path, at, std::move(entry), result);
    if (opened.ok()) opened = (*result)->Append(bytes, IOOptions(), nullptr);
    if (opened.ok()) opened = (*result)->Sync(IOOptions(), nullptr);
    if (opened.ok() && before) drop_file(at.root->store(), *before);
    return opened;
  }

  IOStatus copy(const std::string& from, const std::string& to, const IOOptions& options,
                IODebugContext* debug) {
    auto reader = open_reader(from);
    if (!reader) return to_io_status(reader.error());
    std::unique_ptr<rocksdb::FSWritableFile> file;
    IOStatus status = NewWritableFile(to, FileOptions(), &file, debug);
    std::string piece(kStripeBytes, '\0');
    for (uint64_t done = 0; status.ok() && done < (*reader)->size();) {
      auto got = (*reader)->read(done, piece);
      if (!got) return to_io_status(got.error());
      status = file->Append(Slice(piece.data(), *got), options, debug);
      done += *got;
    }
    if (status.ok()) status = file->Close(options, debug);
    return status;
  }

  // Adds the tokens of all files that were linked to a clone. RocksDB links the tables first, and
  // lets none of them go until it has copied the other files. So this is done before the first of
  // those, with several operations at once: writes are waiting.
  IOStatus finish_links(Root& clone) {
    std::vector<FileEntry> links;
    {
      MutexLock lock(mutex_);
      const auto found = links_.find(&clone);
      if (found == links_.end()) return IOStatus::OK();
      links = std::move(found->second);
      links_.erase(found);
    }
    std::atomic<size_t> next = 0;
    std::vector<IOStatus> failures(std::min(links.size(), kLinksAtOnce));
    {
      std::vector<std::jthread> threads;
      for (IOStatus& failure : failures) {
        threads.emplace_back([&] {
          for (size_t i = next++; i < links.size(); i = next++) {
            auto added = add_token(clone.store(), links[i]);
            if (!added) {
              failure = to_io_status(added.error());
            } else if (!*added) {
              failure = not_found(links[i].file);
            }
          }
        });
      }
    }
    for (IOStatus& failure : failures) {
      if (!failure.ok()) return failure;
    }
    return IOStatus::OK();
  }

  const std::shared_ptr<BlockCache> cache_;
  mutable Mutex mutex_;
  // Files that were linked to a clone, whose tokens are not added yet.
  std::map<const Root*, std::vector<FileEntry>> links_ ORRERY_GUARDED_BY(mutex_);
  std::map<std::string, std::shared_ptr<Root>> roots_ ORRERY_GUARDED_BY(mutex_);
  // Of files that are open for writing.
  std::map<std::string, std::weak_ptr<FileWriter>> writers_ ORRERY_GUARDED_BY(mutex_);
  std::set<std::string> locked_ ORRERY_GUARDED_BY(mutex_);
};

std::shared_ptr<ObjectFileSystem> make_object_file_system(std::string partition,
                                                          std::shared_ptr<Root> root,
                                                          std::shared_ptr<BlockCache> cache) {
  return std::make_shared<ObjectFileSystem>(std::move(partition), std::move(root),
                                            std::move(cache));
}

std::shared_ptr<rocksdb::FileSystem> as_file_system(
    const std::shared_ptr<ObjectFileSystem>& files) {
  return files;
}

void add_clone(ObjectFileSystem& files, const std::string& partition, std::shared_ptr<Root> root) {
  files.add(partition, std::move(root));
}

}  // namespace orrery::volume
