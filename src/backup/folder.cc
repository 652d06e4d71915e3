// See folder.h.
#include "backup/folder.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <system_error>

#include "base/file_bytes.h"
#include "base/private_file.h"
#include "base/sha256_stream.h"

namespace orrery::backup {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPieceBytes = 1ULL << 20;
constexpr const char* kBackups = "backups";
constexpr const char* kFiles = "files";
constexpr std::string_view kManifest = ".json";

Error failed(std::string_view doing, const std::string& path, int error) {
  const bool is_full = error == ENOSPC || error == EDQUOT;
  return {.code = is_full ? Code::read_only : Code::internal,
          .message = fmt::format("cannot {} {}: {}{}", doing, path, std::strerror(error),
                                 is_full ? ". Free space there and try again: the backups that are "
                                           "in the folder are whole"
                                         : "")};
}

Status make_directory(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return pass(failed("make the folder", path, error.value()));
  return {};
}

bool is_hash(std::string_view text) {
  return text.size() == 64 && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F');
         });
}

}  // namespace

Result<Folder> Folder::open_to_write(const std::string& path) {
  Folder folder(path);
  ::umask(077);  // whoever reads it has the account's data
  for (const std::string& made :
       {path, fmt::format("{}/{}", path, kBackups), fmt::format("{}/{}", path, kFiles)}) {
    if (auto ok = make_directory(made); !ok) return pass(ok.error());
  }
  const std::string lock = path + "/LOCK";
  folder.lock_ = FileDescriptor(::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!folder.lock_) return pass(failed("open", lock, errno));
  if (::flock(folder.lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    return fail(Code::conflict,
                fmt::format("another backup is being written into {}: wait for it to end", path));
  }
  if (auto indexed = folder.index_known(); !indexed) return pass(indexed.error());
  return folder;
}

Result<Folder> Folder::open_to_read(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_directory(fmt::format("{}/{}", path, kBackups), ignored)) {
    return fail(Code::not_found, fmt::format("{} is not a folder of backups: orrery backup --to "
                                             "FOLDER makes one",
                                             path));
  }
  return Folder(path);
}

Status Folder::index_known() {
  auto all = names();
  if (!all) return pass(all.error());
  for (const std::string& name : *all) {
    auto manifest = read(name);
    // One that cannot be read is for `orrery verify` to tell; its files stay (sweep()).
    if (!manifest) continue;
    const auto enter = [&](const BackedUpPartition& one) {
      for (const BackedUpFile& file : one.files) {
        if (!file.mark.empty()) known_.try_emplace({file.size, file.mark}, file.sha256);
      }
    };
    enter(manifest->catalog);
    for (const BackedUpPartition& one : manifest->partitions) enter(one);
  }
  return {};
}

Result<std::vector<std::string>> Folder::names() const {
  std::vector<std::string> found;
  std::error_code error;
  const std::string where = fmt::format("{}/{}", path_, kBackups);
  for (fs::directory_iterator it(where, error), end; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename().string();
    if (!name.ends_with(kManifest)) continue;  // what a write that was cut short left
    name.resize(name.size() - kManifest.size());
    found.push_back(std::move(name));
  }
  if (error) return pass(failed("list", where, error.value()));
  std::ranges::sort(found);
  return found;
}

Result<Manifest> Folder::read(std::string_view name) const {
  const std::string path = fmt::format("{}/{}/{}{}", path_, kBackups, name, kManifest);
  std::error_code ignored;
  if (name.find('/') != std::string_view::npos || !fs::is_regular_file(path, ignored)) {
    return fail(Code::not_found, fmt::format("there is no backup '{}' in {}", name, path_));
  }
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file.good() && !file.eof()) return pass(failed("read", path, errno));
  auto manifest = decode_manifest(text);
  if (!manifest) {
    return fail(manifest.error().code,
                fmt::format("the manifest {}: {}", path, manifest.error().message));
  }
  return manifest;
}

Result<std::string> Folder::new_name(int64_t now_ms) const {
  auto all = names();
  if (!all) return pass(all.error());
  const std::string base =
      fmt::format("{:%Y-%m-%dT%H-%M-%SZ}", fmt::gmtime(static_cast<std::time_t>(now_ms / 1000)));
  // In the order of the names, too: the second of a second is later.
  std::string name = base;
  for (int i = 2; std::ranges::find(*all, name) != all->end(); ++i) {
    name = fmt::format("{}-{:03}", base, i);
  }
  return name;
}

std::string Folder::path_of(std::string_view sha256) const {
  return fmt::format("{}/{}/{}/{}", path_, kFiles, sha256.substr(0, 2), sha256);
}

std::string Folder::find(uint64_t size, const std::string& mark) const {
  if (mark.empty()) return "";
  const auto found = known_.find({size, mark});
  if (found == known_.end()) return "";
  std::error_code error;
  if (fs::file_size(path_of(found->second), error) != size || error) return "";
  return found->second;
}

Result<std::string> Folder::put(const std::function<Result<std::string>()>& next) {
  const std::string partial = path_ + "/partial";
  const FileDescriptor file(
      ::open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file) return pass(failed("write", partial, errno));
  Sha256Stream hash;
  uint64_t size = 0;
  for (;;) {
    auto piece = next();
    if (!piece) return pass(piece.error());
    if (piece->empty()) break;
    hash.add(*piece);
    if (!write_at(file.get(), size, *piece)) {
      const int error = errno;
      ::unlink(partial.c_str());
      return pass(failed("write", partial, error));
    }
    size += piece->size();
  }
  const std::string sha256 = hash.finish();
  const std::string path = path_of(sha256);
  if (auto made = make_directory(path.substr(0, path.rfind('/'))); !made) return pass(made.error());
  // In the place of what is there: it is the same, or what a power cut left of it.
  if (::rename(partial.c_str(), path.c_str()) != 0) return pass(failed("write", path, errno));
  return sha256;
}

Status Folder::finish(const Manifest& manifest) {
  // One call for all files, which may be many small ones.
  if (::syncfs(lock_.get()) != 0) return pass(failed("sync", path_, errno));
  return write_private_file(fmt::format("{}/{}/{}{}", path_, kBackups, manifest.name, kManifest),
                            encode(manifest));
}

Result<uint64_t> Folder::sweep() {
  std::set<std::string> named;
  auto all = names();
  if (!all) return pass(all.error());
  for (const std::string& name : *all) {
    auto manifest = read(name);
    if (!manifest) {
      return fail(manifest.error().code,
                  manifest.error().message + ". Nothing was removed, since it may name any file");
    }
    for (const BackedUpFile& file : manifest->catalog.files) named.insert(file.sha256);
    for (const BackedUpPartition& one : manifest->partitions) {
      for (const BackedUpFile& file : one.files) named.insert(file.sha256);
    }
  }
  std::error_code error;
  std::vector<fs::path> going;
  uint64_t bytes = 0;
  const std::string where = fmt::format("{}/{}", path_, kFiles);
  for (fs::recursive_directory_iterator it(where, error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!is_hash(name) || named.contains(name)) continue;
    going.push_back(it->path());
  }
  if (error) return pass(failed("list", where, error.value()));
  for (const fs::path& path : going) {
    const uint64_t size = fs::file_size(path, error);
    if (!error && fs::remove(path, error)) bytes += size;
  }
  return bytes;
}

struct CheckedReader::Impl {
  std::string path;
  BackedUpFile file;
  FileDescriptor fd = {};
  Sha256Stream hash = {};
  uint64_t at = 0;
};

CheckedReader::CheckedReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CheckedReader::~CheckedReader() = default;

Result<std::unique_ptr<CheckedReader>> CheckedReader::open(const std::string& path,
                                                           const BackedUpFile& file) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  impl->file = file;
  impl->fd = FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!impl->fd) {
    if (errno == ENOENT) return fail(Code::corrupt, fmt::format("{} is missing", path));
    return pass(failed("read", path, errno));
  }
  return std::unique_ptr<CheckedReader>(new CheckedReader(std::move(impl)));
}

Result<std::string> CheckedReader::next() {
  std::string piece(kPieceBytes, '\0');
  const auto read = read_at(impl_->fd.get(), impl_->at, {piece.data(), piece.size()});
  if (!read) return pass(failed("read", impl_->path, errno));
  piece.resize(*read);
  impl_->at += *read;
  impl_->hash.add(piece);
  if (!piece.empty() && impl_->at <= impl_->file.size) return piece;
  if (impl_->at != impl_->file.size) {
    return fail(Code::corrupt, fmt::format("{} has not the {} bytes that it should have",
                                           impl_->path, impl_->file.size));
  }
  if (impl_->hash.finish() != impl_->file.sha256) {
    return fail(Code::corrupt, fmt::format("{} is damaged: its checksum is another", impl_->path));
  }
  return std::string();
}

}  // namespace orrery::backup
