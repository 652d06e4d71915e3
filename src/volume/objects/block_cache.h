// Pieces of objects that never change, kept in a file on the local disk, so that reads need no
// round trip. The file has a fixed number of slots and outlives the process.
//
//   FILE        slots of kPieceBytes
//   FILE.index  for each slot, 128 bytes: what it holds, how much of it, and a checksum of the
//   bytes
//
// Invariant: what find() returns are the bytes that were put under that name. A slot is read
// without a lock while another thread may reuse it, and a crash may leave any mix of old and new in
// both files; the checksum, over name and bytes, tells. A slot that does not check is a miss.
//
// A slot is reused by second chance: one that was found since the hand last passed is passed over.
// Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "base/thread_annotations.h"

namespace orrery::volume {

class BlockCache {
 public:
  static constexpr size_t kPieceBytes = 64ULL << 10;
  static constexpr size_t kNameBytesMax = 96;  // longer names are not kept

  // Opens the file, or makes it. Another size than before begins anew.
  static Result<std::shared_ptr<BlockCache>> open(const std::string& file, uint64_t bytes_max);

  // A whole piece at most: copies what there is from `offset` on. False when it does not have all
  // of `into`.
  bool find(std::string_view name, uint64_t offset, std::span<char> into);
  // What it held under this name before is replaced.
  void put(std::string_view name, std::string_view piece);

  uint64_t slots() const { return count_; }
  uint64_t found() const { return found_.load(std::memory_order_relaxed); }
  uint64_t missed() const { return missed_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kRecordBytes = 128;

  struct Slot {
    std::string name;
    uint32_t bytes = 0;
    uint64_t checksum = 0;
    bool was_found = false;
  };
  BlockCache(FileDescriptor pieces, FileDescriptor index, uint64_t count)
      : pieces_(std::move(pieces)), index_(std::move(index)), count_(count), slots_(count) {}
  void load();
  uint64_t next_slot() ORRERY_REQUIRES(mutex_);

  const FileDescriptor pieces_;
  const FileDescriptor index_;
  const uint64_t count_;
  Mutex mutex_;
  std::vector<Slot> slots_ ORRERY_GUARDED_BY(mutex_);
  std::unordered_map<std::string, uint64_t> by_name_ ORRERY_GUARDED_BY(mutex_);
  uint64_t hand_ ORRERY_GUARDED_BY(mutex_) = 0;
  std::atomic<uint64_t> found_{0};
  std::atomic<uint64_t> missed_{0};
};

}  // namespace orrery::volume
