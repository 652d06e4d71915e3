// See block_cache.h.
#include "volume/objects/block_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/bytes.h"
#include "base/file_bytes.h"
#include "base/hash.h"

namespace orrery::volume {
namespace {

// A record: 4 bytes each for how long the name and the piece are, 8 for the checksum, the name.
constexpr size_t kNameAt = 16;

uint64_t checksum_of(std::string_view name, std::string_view piece) {
  // The seed ties the bytes to their name, so that a slot reused by another is told apart.
  return load_u64_le(murmur3_x64_128(piece, murmur3_x86_32(name, 0)).data());
}

Result<FileDescriptor> open_file(const std::string& path, uint64_t bytes) {
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  struct stat found = {};
  if (!file || ::fstat(file.get(), &found) != 0) {
    return fail(Code::invalid, fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  }
  // It grows as it is filled; of another size, it is another cache.
  if (static_cast<uint64_t>(found.st_size) != bytes &&
      (::ftruncate(file.get(), 0) != 0 ||
       ::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0)) {
    return fail(Code::invalid,
                fmt::format("cannot make {} of {} bytes: {}", path, bytes, std::strerror(errno)));
  }
  return file;
}

}  // namespace

Result<std::shared_ptr<BlockCache>> BlockCache::open(const std::string& file, uint64_t bytes_max) {
  const uint64_t count = std::max<uint64_t>(bytes_max / kPieceBytes, 1);
  auto pieces = open_file(file, count * kPieceBytes);
  if (!pieces) return pass(pieces.error());
  auto index = open_file(file + ".index", count * kRecordBytes);
  if (!index) return pass(index.error());
  std::shared_ptr<BlockCache> cache(new BlockCache(std::move(*pieces), std::move(*index), count));
  cache->load();
  return cache;
}

void BlockCache::load() {
  std::string records(count_ * kRecordBytes, '\0');
  if (read_at(index_.get(), 0, records) != records.size()) return;
  MutexLock lock(mutex_);
  for (uint64_t i = 0; i < count_; ++i) {
    const char* record = records.data() + i * kRecordBytes;
    const uint32_t name_bytes = load_u32_le(record);
    const uint32_t bytes = load_u32_le(record + 4);
    if (name_bytes == 0 || name_bytes > kNameBytesMax || bytes > kPieceBytes) continue;
    Slot& slot = slots_[i];
    slot.name.assign(record + kNameAt, name_bytes);
    slot.bytes = bytes;
    slot.checksum = load_u64_le(record + 8);
    by_name_[slot.name] = i;
  }
  // Goes on where there is room.
  while (hand_ + 1 < count_ && !slots_[hand_].name.empty()) ++hand_;
}

bool BlockCache::find(std::string_view name, uint64_t offset, std::span<char> into) {
  uint64_t at = 0;
  Slot slot;
  {
    MutexLock lock(mutex_);
    const auto found = by_name_.find(std::string(name));
    if (found != by_name_.end()) {
      at = found->second;
      slots_[at].was_found = true;
      slot = slots_[at];
    }
  }
  if (slot.bytes < offset + into.size() || slot.bytes == 0) {
    missed_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  std::string piece(slot.bytes, '\0');
  if (read_at(pieces_.get(), at * kPieceBytes, piece) != piece.size() ||
      checksum_of(name, piece) != slot.checksum) {
    missed_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  std::memcpy(into.data(), piece.data() + offset, into.size());
  found_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

uint64_t BlockCache::next_slot() {
  for (;;) {
    const uint64_t at = hand_;
    hand_ = (hand_ + 1) % count_;
    if (!std::exchange(slots_[at].was_found, false)) return at;
  }
}

void BlockCache::put(std::string_view name, std::string_view piece) {
  if (name.empty() || name.size() > kNameBytesMax || piece.empty() || piece.size() > kPieceBytes) {
    return;
  }
  const uint64_t checksum = checksum_of(name, piece);
  uint64_t at = 0;
  {
    MutexLock lock(mutex_);
    const auto found = by_name_.find(std::string(name));
    at = found != by_name_.end() ? found->second : next_slot();
    Slot& slot = slots_[at];
    if (slot.name != name) {
      if (const auto old = by_name_.find(slot.name); old != by_name_.end() && old->second == at) {
        by_name_.erase(old);
      }
      slot.name = name;
      by_name_[slot.name] = at;
    }
    slot.bytes = static_cast<uint32_t>(piece.size());
    slot.checksum = checksum;
  }
  std::array<char, kRecordBytes> record = {};
  store_u32_le(record.data(), static_cast<uint32_t>(name.size()));
  store_u32_le(record.data() + 4, static_cast<uint32_t>(piece.size()));
  store_u64_le(record.data() + 8, checksum);
  std::ranges::copy(name, record.begin() + kNameAt);
  // Should either fail, the checksum tells.
  if (write_at(pieces_.get(), at * kPieceBytes, piece)) {
    write_at(index_.get(), at * kRecordBytes, std::string_view(record.data(), record.size()));
  }
}

}  // namespace orrery::volume
