// See directory_store.h.
#include "volume/objects/directory_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>

#include "base/bytes.h"
#include "base/file_bytes.h"
#include "base/file_descriptor.h"

namespace orrery::volume {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLocks = 64;

void put(std::string& to, std::string_view bytes) {
  std::array<char, 8> size = {};
  store_u64_le(size.data(), bytes.size());
  to.append(size.data(), size.size());
  to.append(bytes);
}

// Takes one piece off the front; false when it is not whole.
bool take(std::string_view& from, std::string_view& piece) {
  if (from.size() < 8) return false;
  const uint64_t size = load_u64_le(from.data());
  if (from.size() - 8 < size) return false;
  piece = from.substr(8, size);
  from.remove_prefix(8 + size);
  return true;
}

// The size and the number of attributes, and then names and values of attributes and entries.
std::string encode(const ObjectState& state) {
  std::string out;
  std::array<char, 16> head = {};
  store_u64_le(head.data(), state.size);
  store_u64_le(head.data() + 8, state.attributes.size());
  out.append(head.data(), head.size());
  for (const auto& [name, value] : state.attributes) {
    put(out, name);
    put(out, value);
  }
  for (const auto& [name, value] : state.entries) {
    put(out, name);
    put(out, value);
  }
  return out;
}

std::optional<ObjectState> decode(std::string_view bytes) {
  ObjectState state;
  if (bytes.size() < 16) return std::nullopt;
  state.size = load_u64_le(bytes.data());
  uint64_t attributes = load_u64_le(bytes.data() + 8);
  bytes.remove_prefix(16);
  while (!bytes.empty()) {
    std::string_view name;
    std::string_view value;
    if (!take(bytes, name) || !take(bytes, value)) return std::nullopt;
    if (attributes > 0) {
      --attributes;
      state.attributes.emplace(name, value);
    } else {
      state.entries.emplace(name, value);
    }
  }
  if (attributes > 0) return std::nullopt;
  return state;
}

std::string system_error(std::string_view what, const std::string& path) {
  return fmt::format("cannot {} {}: {}", what, path, std::strerror(errno));
}

class DirectoryStore final : public ObjectStore {
 public:
  DirectoryStore(std::string directory, DirectorySync sync)
      : directory_(std::move(directory)), sync_(sync == DirectorySync::yes) {}

  Outcome apply(const std::string& object, const ObjectChange& change) override {
    const FileDescriptor lock = lock_of(object, LOCK_EX);
    if (lock.get() < 0) return failed(system_error("lock", object));
    auto found = load(object);
    if (!found && found.error().code != Code::not_found) return failed(found.error().message);
    const bool there = found.has_value();
    if (there && change.presence == ObjectChange::Presence::must_be_new) {
      return {.applied = Applied::exists};
    }
    if (!there && change.presence == ObjectChange::Presence::must_be_there) {
      return {.applied = Applied::absent};
    }
    ObjectState state = there ? std::move(*found) : ObjectState();
    for (const auto& [name, value] : change.attributes_equal) {
      if (state.attribute(name) != value) return {.applied = Applied::differs};
    }
    for (const auto& [name, value] : change.entries_equal) {
      const auto entry = state.entries.find(name);
      if ((entry == state.entries.end() ? std::string_view() : entry->second) != value) {
        return {.applied = Applied::differs};
      }
    }
    if (change.remove) return remove(object, there);
    for (const auto& [name, value] : change.set_attributes) state.attributes[name] = value;
    for (const std::string& name : change.erase_entries) state.entries.erase(name);
    for (const auto& [name, value] : change.set_entries) state.entries[name] = value;
    if (change.data != ObjectChange::Data::keep) {
      // A replacement is as atomic as an append only when nothing of the old bytes is overwritten
      // by others: whoever replaces bytes puts the same ones where there were some.
      const uint64_t at = change.data == ObjectChange::Data::append ? state.size : 0;
      if (!write_bytes(object, at, change.bytes)) return space_or(system_error("write", object));
      state.size = at + change.bytes.size();
    }
    return store(object, state);
  }

  Result<ObjectState> inspect(const std::string& object) override {
    const FileDescriptor lock = lock_of(object, LOCK_SH);
    if (lock.get() < 0) return fail(Code::internal, system_error("lock", object));
    return load(object);
  }

  Result<std::optional<std::string>> entry(const std::string& object,
                                           const std::string& name) override {
    auto state = inspect(object);
    if (!state && state.error().code == Code::not_found) return std::nullopt;
    if (!state) return pass(state.error());
    const auto found = state->entries.find(name);
    if (found == state->entries.end()) return std::nullopt;
    return found->second;
  }

  Result<size_t> read(const std::string& object, uint64_t offset, std::span<char> into) override {
    const FileDescriptor lock = lock_of(object, LOCK_SH);
    if (lock.get() < 0) return fail(Code::internal, system_error("lock", object));
    auto state = load(object);
    if (!state) return pass(state.error());
    if (offset >= state->size) return 0;
    const std::string path = bytes_of(object);
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) return fail(Code::corrupt, system_error("open", path));
    into = into.first(std::min<uint64_t>(into.size(), state->size - offset));
    const auto got = read_at(file.get(), offset, into);
    if (!got) return fail(Code::internal, system_error("read", path));
    return *got;
  }

  Result<std::vector<std::string>> list(std::string_view prefix) override {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator it(directory_, error), end; !error && it != end;
         it.increment(error)) {
      std::string name = it->path().filename().string();
      if (name.starts_with(prefix) && !name.ends_with(".bytes") && !name.ends_with(".new") &&
          name != ".locks") {
        names.push_back(std::move(name));
      }
    }
    if (error) {
      return fail(Code::internal, fmt::format("cannot list {}: {}", directory_, error.message()));
    }
    return names;
  }

  Result<double> free_share() override {
    struct statvfs status = {};
    if (::statvfs(directory_.c_str(), &status) != 0 || status.f_blocks == 0) {
      return fail(Code::internal, system_error("tell the free space of", directory_));
    }
    return static_cast<double>(status.f_bavail) / static_cast<double>(status.f_blocks);
  }

  std::string place() const override { return directory_; }

 private:
  std::string path_of(const std::string& object) const { return directory_ + "/" + object; }
  std::string bytes_of(const std::string& object) const { return path_of(object) + ".bytes"; }

  static Outcome failed(std::string message) {
    return {.applied = Applied::failed, .message = std::move(message)};
  }
  static Outcome space_or(std::string message) {
    return {.applied = errno == ENOSPC ? Applied::full : Applied::failed,
            .message = std::move(message)};
  }

  FileDescriptor lock_of(const std::string& object, int how) const {
    const std::string path =
        fmt::format("{}/.locks/{}", directory_, std::hash<std::string>()(object) % kLocks);
    FileDescriptor lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (lock.get() < 0) return lock;
    while (::flock(lock.get(), how) != 0) {
      if (errno != EINTR) return FileDescriptor(-1);
    }
    return lock;
  }

  Result<ObjectState> load(const std::string& object) const {
    const std::string path = path_of(object);
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0 && errno == ENOENT) {
      return fail(Code::not_found, fmt::format("there is no object {}", path));
    }
    const off_t size = file.get() < 0 ? -1 : ::lseek(file.get(), 0, SEEK_END);
    if (size < 0) return fail(Code::internal, system_error("open", path));
    std::string bytes(static_cast<size_t>(size), '\0');
    const auto got = read_at(file.get(), 0, bytes);
    if (!got) return fail(Code::internal, system_error("read", path));
    auto state = decode(std::string_view(bytes).substr(0, *got));
    if (!state) return fail(Code::corrupt, fmt::format("{} is not whole", path));
    return std::move(*state);
  }

  Outcome store(const std::string& object, const ObjectState& state) const {
    const std::string path = path_of(object);
    const std::string fresh = path + ".new";
    {
      const FileDescriptor file(
          ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
      if (file.get() < 0 || !write_at(file.get(), 0, encode(state)) ||
          (sync_ && ::fdatasync(file.get()) != 0)) {
        return space_or(system_error("write", fresh));
      }
    }
    if (::rename(fresh.c_str(), path.c_str()) != 0) return failed(system_error("rename", fresh));
    if (sync_ && !sync_directory()) return failed(system_error("sync", directory_));
    return {};
  }

  bool write_bytes(const std::string& object, uint64_t offset, std::string_view bytes) const {
    const FileDescriptor file(
        ::open(bytes_of(object).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    return file.get() >= 0 && write_at(file.get(), offset, bytes) &&
           (!sync_ || ::fdatasync(file.get()) == 0);
  }

  Outcome remove(const std::string& object, bool there) const {
    if (!there) return {.applied = Applied::absent};
    if (::unlink(path_of(object).c_str()) != 0) return failed(system_error("remove", object));
    ::unlink(bytes_of(object).c_str());
    return {};
  }

  bool sync_directory() const {
    const FileDescriptor folder(::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return folder.get() >= 0 && ::fsync(folder.get()) == 0;
  }

  const std::string directory_;
  const bool sync_;
};

}  // namespace

Result<std::unique_ptr<ObjectStore>> open_directory_store(const std::string& directory,
                                                          DirectorySync sync) {
  std::error_code error;
  fs::create_directories(directory + "/.locks", error);
  if (error) {
    return fail(Code::invalid, fmt::format("cannot make {}: {}", directory, error.message()));
  }
  return std::make_unique<DirectoryStore>(directory, sync);
}

}  // namespace orrery::volume
