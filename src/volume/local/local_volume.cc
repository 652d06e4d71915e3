// See local_volume.h.
#include "volume/local/local_volume.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

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
  explicit LocalVolume(std::string partitions) : partitions_(std::move(partitions)) {}

  Result<std::unique_ptr<Claim>> claim(std::string_view name) override {
    auto place = make_place(name);
    if (!place) return pass(place.error());
    auto fence = Fence::take_over(*place);
    if (!fence) return pass(fence.error());
    return std::make_unique<LocalClaim>(std::move(*fence), *place + "/db");
  }

  bool exists(std::string_view name) const override {
    std::error_code error;
    return is_valid_name(name) && fs::exists(place_of(name) + "/db/CURRENT", error);
  }

  Result<std::vector<std::string>> list() const override {
    std::error_code error;
    std::vector<std::string> names;
    for (fs::directory_iterator it(partitions_, error), end; !error && it != end;
         it.increment(error)) {
      names.push_back(it->path().filename().string());
    }
    if (error) {
      return fail(Code::internal, fmt::format("cannot list {}: {}", partitions_, error.message()));
    }
    return names;
  }

  Status remove(std::string_view name) override {
    if (!is_valid_name(name)) return bad_name(name);
    std::error_code error;
    fs::remove_all(place_of(name), error);
    if (error) {
      return fail(Code::internal,
                  fmt::format("cannot remove {}: {}", place_of(name), error.message()));
    }
    return {};
  }

  Result<std::string> clone_target(std::string_view name) override {
    if (auto removed = remove(name); !removed) return pass(removed.error());
    auto place = make_place(name);
    if (!place) return pass(place.error());
    return *place + "/db";
  }

 private:
  static std::unexpected<Error> bad_name(std::string_view name) {
    return fail(Code::invalid, fmt::format("'{}' is not a name for a partition's files", name));
  }

  std::string place_of(std::string_view name) const {
    return fmt::format("{}/{}", partitions_, name);
  }

  Result<std::string> make_place(std::string_view name) const {
    if (!is_valid_name(name)) return bad_name(name);
    std::string place = place_of(name);
    std::error_code error;
    bool made = fs::create_directory(place, error);
    if (error) {
      return fail(Code::read_only, fmt::format("cannot make {}: {}", place, error.message()));
    }
    if (made) {
      if (auto synced = sync_directory(partitions_); !synced) return pass(synced.error());
    }
    return place;
  }

  const std::string partitions_;
};

}  // namespace

Result<std::unique_ptr<Volume>> open_local_volume(const std::string& root) {
  std::error_code error;
  std::string partitions = root + "/partitions";
  fs::create_directories(partitions, error);
  if (error) {
    return fail(Code::invalid, fmt::format("cannot make {}: {}", partitions, error.message()));
  }
  if (auto synced = sync_directory(root); !synced) return pass(synced.error());
  return std::make_unique<LocalVolume>(std::move(partitions));
}

}  // namespace orrery::volume
