// See progress.h. There are two slots, written in turn, so that one that was cut short leaves the
// other. A slot:
//
//   0   8  Murmur3 x64-128, first half, of the rest of the slot
//   8   8  sequence: the larger one counts
//  16   8  LSN
//  24   4  number of files
//  28      for each: kind (1), number (8), bytes (8)
//
// and zeros to its end.
#include "volume/local/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "base/bytes.h"
#include "base/hash.h"

namespace orrery::volume {
namespace {

constexpr size_t kSlotBytes = 1024;
constexpr size_t kHeadBytes = 28;
constexpr size_t kFileBytes = 17;
// Beyond it, what is not noted is not missed: that is no worse than without notes.
constexpr size_t kFilesMax = (kSlotBytes - kHeadBytes) / kFileBytes;
static_assert(2 * kSlotBytes <= Fence::kNotesBytes);

constexpr std::string_view kLogEnding = ".log";
constexpr std::string_view kManifestStart = "MANIFEST-";

uint64_t checksum(std::string_view slot) {
  return load_u64_le(murmur3_x64_128(slot.substr(8), 0).data());
}

using Slot = std::array<char, kSlotBytes>;

Slot encode(const Noted& noted) {
  Slot slot = {};
  store_u64_le(slot.data() + 8, noted.sequence);
  store_u64_le(slot.data() + 16, noted.lsn);
  // Manifests sort last and newer files after older ones: if there are too many, those are kept.
  const size_t count = std::min(noted.files.size(), kFilesMax);
  store_u32_le(slot.data() + 24, static_cast<uint32_t>(count));
  char* at = slot.data() + kHeadBytes;
  for (auto it = std::prev(noted.files.end(), static_cast<ptrdiff_t>(count));
       it != noted.files.end(); ++it, at += kFileBytes) {
    *at = static_cast<char>(it->first.kind);
    store_u64_le(at + 1, it->first.number);
    store_u64_le(at + 9, it->second);
  }
  store_u64_le(slot.data(), checksum({slot.data(), slot.size()}));
  return slot;
}

std::optional<Noted> decode(std::string_view slot) {
  if (slot.size() != kSlotBytes || load_u64_le(slot.data()) != checksum(slot)) return std::nullopt;
  Noted noted;
  noted.sequence = load_u64_le(slot.data() + 8);
  noted.lsn = load_u64_le(slot.data() + 16);
  const size_t count = load_u32_le(slot.data() + 24);
  if (count > kFilesMax) return std::nullopt;
  for (size_t i = 0; i < count; ++i) {
    const char* at = slot.data() + kHeadBytes + i * kFileBytes;
    const TrackedFile file{.kind = static_cast<TrackedFile::Kind>(*at),
                           .number = load_u64_le(at + 1)};
    noted.files.emplace(file, load_u64_le(at + 9));
  }
  return noted;
}

std::string name_of(const TrackedFile& file) {
  return file.kind == TrackedFile::Kind::log ? fmt::format("{:06}{}", file.number, kLogEnding)
                                             : fmt::format("{}{:06}", kManifestStart, file.number);
}

}  // namespace

std::optional<TrackedFile> tracked_file(std::string_view directory, std::string_view path) {
  if (!path.starts_with(directory)) return std::nullopt;
  std::string_view name = path.substr(directory.size());
  name.remove_prefix(std::min(name.find_first_not_of('/'), name.size()));
  TrackedFile file;
  if (name.ends_with(kLogEnding)) {
    name.remove_suffix(kLogEnding.size());
  } else if (name.starts_with(kManifestStart)) {
    name.remove_prefix(kManifestStart.size());
    file.kind = TrackedFile::Kind::manifest;
  } else {
    return std::nullopt;
  }
  auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), file.number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return file;
}

Noted read_noted(std::string_view notes) {
  Noted newest;
  for (size_t at : {size_t{0}, kSlotBytes}) {
    if (at >= notes.size()) continue;
    auto noted = decode(notes.substr(at, kSlotBytes));
    if (noted && noted->sequence > newest.sequence) newest = std::move(*noted);
  }
  return newest;
}

Status check_noted(const Noted& noted, const std::string& directory) {
  for (const auto& [file, bytes] : noted.files) {
    const std::string name = name_of(file);
    std::error_code error;
    const uint64_t found = std::filesystem::file_size(directory + "/" + name, error);
    const bool missing = error == std::errc::no_such_file_or_directory;
    if (error && !missing) {
      return fail(Code::read_only,
                  fmt::format("cannot examine {}/{}: {}", directory, name, error.message()));
    }
    if (!missing && found >= bytes) continue;
    return fail(
        Code::corrupt,
        fmt::format("the files in {} have lost commits: {} had {} bytes and {}. Restore this "
                    "partition's files from a copy",
                    directory, name, bytes, missing ? "is missing" : fmt::format("has {}", found)));
  }
  return {};
}

uint64_t Progress::lsn() const {
  MutexLock lock(mutex_);
  return noted_.lsn;
}

Status Progress::note(uint64_t lsn, bool and_sync) {
  MutexLock lock(mutex_);
  if (lsn <= noted_.lsn && synced_ == noted_.files && !(and_sync && unsynced_)) return {};
  noted_.lsn = std::max(noted_.lsn, lsn);
  noted_.files = synced_;
  return write(and_sync);
}

void Progress::synced(const TrackedFile& file, uint64_t bytes) {
  if (bytes == 0) return;
  MutexLock lock(mutex_);
  uint64_t& known = synced_[file];
  known = std::max(known, bytes);
}

Status Progress::shrink(const TrackedFile& file, uint64_t bytes) {
  MutexLock lock(mutex_);
  if (bytes == 0) {
    synced_.erase(file);
  } else if (auto known = synced_.find(file); known != synced_.end()) {
    known->second = std::min(known->second, bytes);
  }
  auto noted = noted_.files.find(file);
  if (noted == noted_.files.end() || (bytes > 0 && noted->second <= bytes)) return {};
  if (bytes == 0) {
    noted_.files.erase(noted);
  } else {
    noted->second = bytes;
  }
  // A log goes because its commits are in other files, and the manifest says so by now. Only of
  // files that were noted before: a new one's name may not be durable yet.
  for (auto& [each, noted_bytes] : noted_.files) {
    if (auto known = synced_.find(each); known != synced_.end()) noted_bytes = known->second;
  }
  return write(/*and_sync=*/true);
}

Status Progress::write(bool and_sync) {
  ++noted_.sequence;
  unsynced_ = !and_sync;
  const Slot slot = encode(noted_);
  return fence_->write_notes(noted_.sequence % 2 * kSlotBytes, {slot.data(), slot.size()},
                             and_sync);
}

}  // namespace orrery::volume
