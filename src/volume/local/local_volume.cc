// See local_volume.h.
#include "volume/local/local_volume.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <system_error>
#include <utility>

#include "volume/local/fence.h"
#include "volume/local/fenced_file_system.h"

namespace orrery::volume {
namespace {

namespace fs = std::filesystem;

class LocalClaim final : public Claim {
 public:
  LocalClaim(std::shared_ptr<Fence> fence, std::string directory)
      : fence_(std::move(fence)),
        directory_(std::move(directory)),
        file_system_(make_fenced_file_system(rocksdb::FileSystem::Default(), fence_)) {}

  uint64_t epoch() const override { return fence_->epoch(); }
  const std::shared_ptr<rocksdb::FileSystem>& file_system() const override { return file_system_; }
  const std::string& directory() const override { return directory_; }

 private:
  std::shared_ptr<Fence> fence_;
  std::string directory_;
  std::shared_ptr<rocksdb::FileSystem> file_system_;
};

Status sync_directory(const std::string& path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  bool ok = fd >= 0 && ::fsync(fd) == 0;
  if (fd >= 0) ::close(fd);
  if (ok) return {};
  return fail(Code::read_only, fmt::format("cannot sync directory {}", path));
}

class LocalVolume final : public Volume {
 public:
  LocalVolume(std::string partitions, std::string removed)
      : partitions_(std::move(partitions)), removed_(std::move(removed)) {}

  Result<std::unique_ptr<Claim>> claim(std::string_view name) override {
    // Somebody may be removing the place just now: then it is made anew.
    for (int attempt = 0;; ++attempt) {
      auto made = make_place(name);
      if (!made) return pass(made.error());
      // The database would make its directory itself; made here it is synced with the place. When
      // it cannot be made, one of the two fails.
      std::error_code ignored;
      fs::create_directory(*made + "/db", ignored);
      auto fence = Fence::take_over(*made);
      if (fence) return std::make_unique<LocalClaim>(std::move(*fence), *made + "/db");
      if (fence.error().code != Code::not_found || attempt == kClaimAttempts) {
        return pass(fence.error());
      }
    }
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

  std::string place(std::string_view name) const override {
    return fmt::format("{}/{}", partitions_, name);
  }

  Result<std::vector<std::string>> list() const override {
    std::error_code error;
    std::vector<std::string> names;
    for (fs::directory_iterator it(partitions_, error), end; !error && it != end;
         it.increment(error)) {
      std::string name = it->path().filename().string();
      if (is_valid_name(name)) names.push_back(std::move(name));
    }
    if (error) {
      return fail(Code::internal, fmt::format("cannot list {}: {}", partitions_, error.message()));
    }
    std::ranges::sort(names);
    return names;
  }

  Status remove(std::string_view name) override {
    if (!is_valid_name(name)) return bad_name(name);
    const std::string here = place(name);
    std::string grave;
    Status moved = Fence::depose(here, [&]() -> Status {
      grave = fmt::format("{}/{}.{}.{}", removed_, name, ::getpid(), graves_.fetch_add(1));
      std::error_code error;
      fs::remove_all(grave, error);  // of an earlier process with this id
      fs::rename(here, grave, error);
      if (error) {
        return fail(Code::internal, fmt::format("cannot remove {}: {}", here, error.message()));
      }
      return sync_directory(partitions_);
    });
    if (!moved) {
      if (moved.error().code == Code::not_found) return {};
      return moved;
    }
    std::error_code error;
    fs::remove_all(grave, error);
    if (error) {
      return fail(Code::internal, fmt::format("cannot delete {}: {}", grave, error.message()));
    }
    return {};
  }

  Result<std::string> clone_target(std::string_view name) override {
    if (auto removed = remove(name); !removed) return pass(removed.error());
    auto made = make_place(name);
    if (!made) return pass(made.error());
    return *made + "/db";
  }

 private:
  static constexpr int kClaimAttempts = 100;

  static std::unexpected<Error> bad_name(std::string_view name) {
    return fail(Code::invalid,
                fmt::format("'{}' is not a name for a partition's files: use 1 to 64 lower-case "
                            "letters, digits and hyphens",
                            name));
  }

  Result<std::string> make_place(std::string_view name) const {
    if (!is_valid_name(name)) return bad_name(name);
    std::string here = place(name);
    std::error_code error;
    bool made = fs::create_directory(here, error);
    if (error) {
      return fail(Code::read_only, fmt::format("cannot make {}: {}", here, error.message()));
    }
    if (made) {
      if (auto synced = sync_directory(partitions_); !synced) return pass(synced.error());
    }
    return here;
  }

  const std::string partitions_;
  const std::string removed_;
  std::atomic<uint64_t> graves_{0};
};

}  // namespace

Result<std::unique_ptr<Volume>> open_local_volume(const std::string& root) {
  const std::string partitions = root + "/partitions";
  const std::string removed = root + "/removed";
  for (const std::string& path : {partitions, removed}) {
    std::error_code error;
    fs::create_directories(path, error);
    if (error) {
      return fail(Code::invalid, fmt::format("cannot make {}: {}", path, error.message()));
    }
  }
  if (auto synced = sync_directory(root); !synced) return pass(synced.error());
  std::error_code ignored;  // what stays is tried again the next time
  for (fs::directory_iterator it(removed, ignored), end; !ignored && it != end;
       it.increment(ignored)) {
    std::error_code kept;
    fs::remove_all(it->path(), kept);
  }
  return std::make_unique<LocalVolume>(partitions, removed);
}

}  // namespace orrery::volume
