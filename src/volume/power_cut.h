// Simulates power cuts, for tests. After a kill the page cache survives. After a power cut only
// what was synced does: the bytes of a file up to its last sync, and the entries of a directory
// (files created, renamed, linked, deleted) as of the directory's last sync.
//
// While a PowerCut lives, it intercepts every fsync and fdatasync of this process below its root
// and records what they made durable. At the chosen sync the power is cut: that sync and all later
// ones fail. Then an image of what the disk may hold is built in another folder. Unsynced data is
// lost there, or kept (the system may have written it back), or each of the two at random, with
// files cut at a random byte.
//
// It replaces fsync in the program that includes it, so only one file of a program may do so. It
// assumes that files other than small ones are only appended to.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <utility>

namespace orrery::volume {

class PowerCut {
 public:
  enum class Unsynced : uint8_t { lost, kept, some };

  // What is below `root` now counts as durable. `work` is a folder on the same file system.
  PowerCut(std::string root, std::string work) : root_(std::move(root)), work_(std::move(work)) {
    std::filesystem::create_directories(work_ + "/kept");
    note_tree(root_);
    active_ = this;
  }
  ~PowerCut() { active_ = nullptr; }
  PowerCut(const PowerCut&) = delete;
  PowerCut& operator=(const PowerCut&) = delete;

  // Cuts the power at the n-th sync from now, the first being 0.
  void arrange(uint64_t n, Unsynced unsynced, uint32_t seed) {
    std::lock_guard lock(mutex_);
    cut_at_ = syncs_ + n;
    unsynced_ = unsynced;
    seed_ = seed;
    random_.seed(seed);
  }
  // At once, if it was not cut yet.
  void cut_now() {
    std::lock_guard lock(mutex_);
    if (!off_) cut();
  }
  // Syncs of such paths are said to be done, and are not.
  void lie_about(std::function<bool(const std::string& path)> lie) {
    std::lock_guard lock(mutex_);
    lie_ = std::move(lie);
  }
  bool is_off() const { return off_; }
  uint64_t syncs() const { return syncs_; }
  // What the disk holds after the cut.
  std::string image() const { return work_ + "/image"; }

  // The sync of a descriptor by anybody in this process.
  static int sync(int fd, long call) {
    PowerCut* disk = active_;
    std::optional<int> answer = disk == nullptr ? std::nullopt : disk->take(fd);
    return answer ? *answer : static_cast<int>(::syscall(call, fd));
  }

 private:
  // Numbers of files are used again, so with the time of their birth.
  using Id = std::pair<uint64_t, uint64_t>;
  struct File {
    uint64_t bytes = 0;
    std::optional<std::string> content;  // of small ones, which may be written in place
  };
  struct Entry {
    Id id;
    bool is_directory = false;
    bool operator==(const Entry&) const = default;
  };
  using Entries = std::map<std::string, Entry>;
  static constexpr uint64_t kSmall = 64ULL << 10;
  static constexpr uint64_t kSector = 512;

  static std::optional<Entry> entry_at(int directory, const char* name, int flags = 0) {
    struct statx found = {};
    if (::statx(directory, name, AT_SYMLINK_NOFOLLOW | flags, STATX_INO | STATX_BTIME | STATX_TYPE,
                &found) != 0) {
      return std::nullopt;
    }
    const auto born =
        static_cast<uint64_t>(found.stx_btime.tv_sec) * 1'000'000'000 + found.stx_btime.tv_nsec;
    return Entry{{found.stx_ino, born}, S_ISDIR(found.stx_mode)};
  }
  std::string keeper(const Id& id) const {
    return work_ + "/kept/" + std::to_string(id.first) + "-" + std::to_string(id.second);
  }
  static std::string slurp(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  // A second name keeps the bytes of what is deleted.
  void keep(const Id& id, const std::string& path) const {
    ::linkat(AT_FDCWD, path.c_str(), AT_FDCWD, keeper(id).c_str(), AT_SYMLINK_FOLLOW);
  }
  void note_file(const Id& id, const std::string& path) {
    keep(id, path);
    std::error_code error;
    const uint64_t bytes = std::filesystem::file_size(keeper(id), error);
    if (error) return;
    File& file = files_[id];
    file.bytes = bytes;
    file.content = bytes <= kSmall ? std::optional(slurp(keeper(id))) : std::nullopt;
  }
  static Entries list(const std::string& path) {
    Entries entries;
    DIR* open = ::opendir(path.c_str());
    if (open == nullptr) return entries;
    while (const dirent* one = ::readdir(open)) {
      const std::string name = one->d_name;
      if (name == "." || name == "..") continue;
      if (auto entry = entry_at(::dirfd(open), one->d_name)) entries.emplace(name, *entry);
    }
    ::closedir(open);
    return entries;
  }
  void note_directory(const Id& id, const std::string& path) {
    Entries entries = list(path);
    for (const auto& [name, entry] : entries) {
      if (!entry.is_directory) keep(entry.id, path + "/" + name);
    }
    directories_[id] = std::move(entries);
  }
  void note_tree(const std::string& path) {
    const auto here = entry_at(AT_FDCWD, path.c_str());
    note_directory(here->id, path);
    for (const auto& [name, entry] : list(path)) {
      if (entry.is_directory) {
        note_tree(path + "/" + name);
      } else {
        note_file(entry.id, path + "/" + name);
      }
    }
  }

  // Nothing when it is none of ours.
  std::optional<int> take(int fd) {
    const std::string link = "/proc/self/fd/" + std::to_string(fd);
    std::error_code error;
    const std::string path = std::filesystem::read_symlink(link, error).string();
    if (error || !path.starts_with(root_)) return std::nullopt;
    std::lock_guard lock(mutex_);
    if (!off_ && syncs_ == cut_at_) cut();
    ++syncs_;
    if (off_) {
      errno = EIO;
      return -1;
    }
    if (lie_ && lie_(path)) return 0;
    const auto entry = entry_at(fd, "", AT_EMPTY_PATH);
    if (!entry) return std::nullopt;
    if (entry->is_directory) {
      note_directory(entry->id, link);
    } else {
      note_file(entry->id, link);
    }
    return 0;
  }

  void cut() {
    off_ = true;
    std::map<Id, std::string> now;  // where directories are
    now[entry_at(AT_FDCWD, root_.c_str())->id] = root_;
    std::error_code ignored;
    for (std::filesystem::recursive_directory_iterator it(root_, ignored), end;
         !ignored && it != end; it.increment(ignored)) {
      const auto entry = entry_at(AT_FDCWD, it->path().c_str());
      if (entry && entry->is_directory) now[entry->id] = it->path().string();
    }
    build(entry_at(AT_FDCWD, root_.c_str())->id, now, image());
  }
  bool survives() {
    return unsynced_ == Unsynced::kept || (unsynced_ == Unsynced::some && random_() % 2 == 0);
  }
  // Of a directory's entries all or none: file systems keep changes of names in their order, and
  // what an earlier cut would leave is for other cuts to show.
  bool entries_survive() const {
    return unsynced_ == Unsynced::kept || (unsynced_ == Unsynced::some && seed_ % 2 == 0);
  }
  void build(const Id& id, const std::map<Id, std::string>& now, const std::string& to) {
    std::filesystem::create_directories(to);
    Entries entries = directories_[id];
    const auto here = now.find(id);
    if (here != now.end()) {
      const Entries current = list(here->second);
      const Entries before = entries;
      for (const auto& [name, entry] : current) {
        if (!entry.is_directory) keep(entry.id, here->second + "/" + name);
        const auto old = before.find(name);
        if ((old == before.end() || old->second != entry) && entries_survive())
          entries[name] = entry;
      }
      for (const auto& [name, entry] : before) {
        if (!current.contains(name) && entries_survive()) entries.erase(name);
      }
    }
    for (const auto& [name, entry] : entries) {
      if (entry.is_directory) {
        build(entry.id, now, to + "/" + name);
      } else {
        write_file(entry.id, to + "/" + name);
      }
    }
  }
  void write_file(const Id& id, const std::string& to) {
    const File synced = files_[id];
    std::string bytes = slurp(keeper(id));
    const bool grew = bytes.size() > synced.bytes;
    if (synced.content && !bytes.starts_with(*synced.content)) {
      if (!survives()) bytes = *synced.content;  // written in place
    } else if (grew && unsynced_ == Unsynced::lost) {
      bytes.resize(synced.bytes);
    } else if (grew && unsynced_ == Unsynced::some) {
      // A sector is written whole or not at all.
      const uint64_t more = bytes.size() - synced.bytes;
      const uint64_t kept =
          bytes.size() <= kSector ? more * (random_() % 2) : random_() % (more + 1);
      bytes.resize(synced.bytes + kept);
    }
    std::ofstream(to, std::ios::binary).write(bytes.data(), static_cast<long>(bytes.size()));
  }

  static inline std::atomic<PowerCut*> active_ = nullptr;

  const std::string root_;
  const std::string work_;
  std::mutex mutex_;
  std::atomic<uint64_t> syncs_ = 0;
  std::atomic<bool> off_ = false;
  uint64_t cut_at_ = UINT64_MAX;
  Unsynced unsynced_ = Unsynced::lost;
  uint32_t seed_ = 0;
  std::mt19937 random_;
  std::function<bool(const std::string&)> lie_;
  std::map<Id, File> files_;
  std::map<Id, Entries> directories_;
};

}  // namespace orrery::volume

// In the place of the system's, for the whole program and the libraries that it uses.
extern "C" __attribute__((visibility("default"))) int fsync(int fd) {
  return orrery::volume::PowerCut::sync(fd, SYS_fsync);
}
extern "C" __attribute__((visibility("default"))) int fdatasync(int fd) {
  return orrery::volume::PowerCut::sync(fd, SYS_fdatasync);
}
