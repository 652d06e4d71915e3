// See local_volume.h.
#include "volume/local/local_volume.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "volume/local/disk_reserve.h"
#include "volume/local/fence.h"
#include "volume/local/fenced_file_system.h"
#include "volume/local/progress.h"

namespace orrery::volume {
namespace {

namespace fs = std::filesystem;

Status sync_directory(const std::string& path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  bool ok = fd >= 0 && ::fsync(fd) == 0;
  if (fd >= 0) ::close(fd);
  if (ok) return {};
  return fail(Code::read_only, fmt::format("cannot sync directory {}", path));
}

// Where everything is, and how places are made.
struct Root {
  std::string partitions;
  std::string removed;

  std::string place(std::string_view name) const { return fmt::format("{}/{}", partitions, name); }

  // True when it was not there before.
  Result<bool> make_place(std::string_view name) const {
    const std::string here = place(name);
    // Not fs::create_directory, which looks again at what is there: somebody may just have removed
    // it. What is there and not a directory fails when it is used.
    const bool made = ::mkdir(here.c_str(), 0777) == 0;
    if (!made && errno != EEXIST) {
      return fail(Code::read_only,
                  fmt::format("cannot make {}: {}", here, std::generic_category().message(errno)));
    }
    if (made) {
      if (auto synced = sync_directory(partitions); !synced) return pass(synced.error());
    }
    return made;
  }
};

std::unexpected<Error> bad_name(std::string_view name) {
  return fail(Code::invalid,
              fmt::format("'{}' is not a name for a partition's files: use 1 to 64 lower-case "
                          "letters, digits and hyphens",
                          name));
}

class LocalClaim final : public Claim {
 public:
  LocalClaim(const Root& root, std::shared_ptr<Fence> fence, Noted noted, std::string directory)
      : root_(root),
        fence_(std::move(fence)),
        progress_(std::make_shared<Progress>(fence_, std::move(noted))),
        directory_(std::move(directory)),
        file_system_(make_fenced_file_system(rocksdb::FileSystem::Default(), fence_, progress_,
                                             directory_)) {}

  uint64_t epoch() const override { return fence_->epoch(); }
  const std::shared_ptr<rocksdb::FileSystem>& file_system() const override { return file_system_; }
  const std::string& directory() const override { return directory_; }

  uint64_t noted_lsn() const override { return progress_->lsn(); }
  Status note_lsn(uint64_t lsn, NoteIs note) override {
    return progress_->note(lsn, note == NoteIs::synced);
  }

  Result<std::string> clone_target(std::string_view name) override {
    if (!is_valid_name(name)) return bad_name(name);
    const Fence::Pass pass_here(*fence_);
    if (!pass_here.ok()) {
      return fail(Code::read_only, fmt::format("cannot clone {}: another owner has taken this "
                                               "partition over",
                                               directory_));
    }
    auto made = root_.make_place(name);
    if (!made) return pass(made.error());
    if (!*made) {
      return fail(Code::conflict, fmt::format("cannot make a clone in {}: there is something under "
                                              "this name",
                                              root_.place(name)));
    }
    return root_.place(name) + "/db";
  }

 private:
  const Root root_;
  std::shared_ptr<Fence> fence_;
  std::shared_ptr<Progress> progress_;
  std::string directory_;
  std::shared_ptr<rocksdb::FileSystem> file_system_;
};

// removed/NAME.SECONDS.PROCESS.N: names have no dots.
std::optional<int64_t> removed_at(const std::string& grave) {
  const size_t dot = grave.find('.');
  if (dot == std::string::npos) return std::nullopt;
  int64_t seconds = 0;
  const char* end = grave.data() + grave.size();
  auto [read_to, error] = std::from_chars(grave.data() + dot + 1, end, seconds);
  if (error != std::errc() || read_to == end || *read_to != '.') return std::nullopt;
  return seconds;
}

class LocalVolume final : public Volume {
 public:
  LocalVolume(Root root, std::string ballast, uint64_t reserve_bytes)
      : root_(std::move(root)),
        reserve_(std::move(ballast), reserve_bytes, DiskReserve::free_bytes_of(root_.partitions)) {}

  Result<std::unique_ptr<Claim>> claim(std::string_view name) override {
    return take(name, LivingOwner::is_left_alone);
  }
  Result<std::unique_ptr<Claim>> take_over(std::string_view name) override {
    return take(name, LivingOwner::is_deposed);
  }

  bool exists(std::string_view name) const override {
    if (!is_valid_name(name)) return false;
    // Not by one file alone: a database that has lost part of its files must not look like none.
    std::error_code error;
    for (fs::directory_iterator it(place(name) + "/db", error), end; !error && it != end;
         it.increment(error)) {
      const std::string extension = it->path().extension().string();
      if (it->path().filename() == "CURRENT" || extension == ".sst" || extension == ".log") {
        return true;
      }
    }
    return false;
  }

  std::string place(std::string_view name) const override { return root_.place(name); }

  Result<std::vector<std::string>> list() const override {
    std::error_code error;
    std::vector<std::string> names;
    for (fs::directory_iterator it(root_.partitions, error), end; !error && it != end;
         it.increment(error)) {
      std::string name = it->path().filename().string();
      if (is_valid_name(name)) names.push_back(std::move(name));
    }
    if (error) {
      return fail(Code::internal,
                  fmt::format("cannot list {}: {}", root_.partitions, error.message()));
    }
    std::ranges::sort(names);
    return names;
  }

  Status remove(std::string_view name, int64_t now_s) override {
    if (!is_valid_name(name)) return bad_name(name);
    const std::string here = place(name);
    Status moved = Fence::depose(here, [&]() -> Status {
      const std::string grave = fmt::format("{}/{}.{}.{}.{}", root_.removed, name, now_s,
                                            ::getpid(), graves_.fetch_add(1));
      std::error_code error;
      fs::rename(here, grave, error);
      if (error) {
        return fail(Code::internal,
                    fmt::format("cannot move {} to {}: {}", here, grave, error.message()));
      }
      if (auto synced = sync_directory(root_.removed); !synced) return synced;
      return sync_directory(root_.partitions);
    });
    if (!moved && moved.error().code == Code::not_found) return {};
    return moved;
  }

  Result<bool> delete_removed(int64_t before_s) override {
    std::optional<std::pair<int64_t, fs::path>> oldest;
    std::error_code error;
    for (fs::directory_iterator it(root_.removed, error), end; !error && it != end;
         it.increment(error)) {
      const auto at = removed_at(it->path().filename().string());
      if (at && *at <= before_s && (!oldest || *at < oldest->first))
        oldest.emplace(*at, it->path());
    }
    if (error) {
      return fail(Code::internal,
                  fmt::format("cannot list {}: {}", root_.removed, error.message()));
    }
    if (!oldest) return false;
    fs::remove_all(oldest->second, error);
    if (error) {
      return fail(Code::internal,
                  fmt::format("cannot delete {}: {}", oldest->second.string(), error.message()));
    }
    return true;
  }

  Result<double> free_share() const override {
    struct statvfs status = {};
    if (::statvfs(root_.partitions.c_str(), &status) != 0 || status.f_blocks == 0) {
      return fail(Code::internal,
                  fmt::format("cannot tell the free space of {}", root_.partitions));
    }
    return static_cast<double>(status.f_bavail) / static_cast<double>(status.f_blocks);
  }

  Status room(Need need) override { return reserve_.room(need); }

 private:
  static constexpr int kClaimAttempts = 100;

  Result<std::unique_ptr<Claim>> take(std::string_view name, LivingOwner owner) {
    if (!is_valid_name(name)) return bad_name(name);
    const std::string here = place(name);
    // Somebody may be removing the place just now: then it is made anew.
    for (int attempt = 0;; ++attempt) {
      if (auto made = root_.make_place(name); !made) return pass(made.error());
      // The database would make its directory itself; made here it is synced with the place. When
      // it cannot be made, one of the two fails.
      std::error_code ignored;
      fs::create_directory(here + "/db", ignored);
      Noted noted;
      auto fence = Fence::take(here, owner, [&](std::string_view notes) {
        noted = read_noted(notes);
        return check_noted(noted, here + "/db");
      });
      if (fence) {
        return std::make_unique<LocalClaim>(root_, std::move(*fence), std::move(noted),
                                            here + "/db");
      }
      if (fence.error().code != Code::not_found || attempt == kClaimAttempts) {
        return pass(fence.error());
      }
    }
  }

  const Root root_;
  std::atomic<uint64_t> graves_{0};
  DiskReserve reserve_;
};

}  // namespace

Result<std::unique_ptr<Volume>> open_local_volume(const std::string& path, uint64_t reserve_bytes) {
  const Root root{.partitions = path + "/partitions", .removed = path + "/removed"};
  for (const std::string& folder : {root.partitions, root.removed}) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) {
      return fail(Code::invalid, fmt::format("cannot make {}: {}", folder, error.message()));
    }
  }
  if (auto synced = sync_directory(path); !synced) return pass(synced.error());
  return std::make_unique<LocalVolume>(root, path + "/BALLAST", reserve_bytes);
}

}  // namespace orrery::volume
