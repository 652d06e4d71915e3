// The progress of a partition: the LSN of its newest durable commit, and the logs and manifests
// that must be there, with their durable sizes. It is kept in the EPOCH file
// (docs/formats/volume.md), apart from the database's own files. So a database that lost files is
// not mistaken for a younger one.
//
// Invariant: the file never claims more than is durable, even after a power cut. So a note is
// written after the data that it describes is durable. It is lowered, durably, before a file that
// it names is deleted or truncated.
//
// Thread-safe.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/thread_annotations.h"
#include "volume/local/fence.h"

namespace orrery::volume {

// A manifest, which lists the other files, or a log, which has commits that no other file has.
struct TrackedFile {
  enum class Kind : uint8_t { log = 1, manifest = 2 };
  Kind kind = Kind::log;
  uint64_t number = 0;
  auto operator<=>(const TrackedFile&) const = default;
};
// By its path, when it is one in this directory.
std::optional<TrackedFile> tracked_file(std::string_view directory, std::string_view path);

struct Noted {
  uint64_t sequence = 0;  // of notes; 0: there is none
  uint64_t lsn = 0;
  std::map<TrackedFile, uint64_t> files;  // to synced bytes
};
// From the bytes of EPOCH behind the epoch, damaged or not.
Noted read_noted(std::string_view notes);
// Code::corrupt when the directory has less than was noted.
Status check_noted(const Noted& noted, const std::string& directory);

class Progress {
 public:
  Progress(std::shared_ptr<Fence> fence, Noted found)
      : fence_(std::move(fence)), noted_(std::move(found)), synced_(noted_.files) {}

  uint64_t lsn() const;
  // Everything up to `lsn` is durable, and so is everything that was synced, with its names.
  // `and_sync`: the note itself survives a power cut too.
  Status note(uint64_t lsn, bool and_sync);

  // The file has this many durable bytes; noted with the next note.
  void synced(const TrackedFile& file, uint64_t bytes);
  // Before it is deleted, or cut to so many bytes.
  Status shrink(const TrackedFile& file, uint64_t bytes);

 private:
  Status write(bool and_sync) ORRERY_REQUIRES(mutex_);

  const std::shared_ptr<Fence> fence_;
  mutable Mutex mutex_;
  Noted noted_ ORRERY_GUARDED_BY(mutex_);
  std::map<TrackedFile, uint64_t> synced_ ORRERY_GUARDED_BY(mutex_);
  bool unsynced_ ORRERY_GUARDED_BY(mutex_) = false;  // the newest note is not durable itself
};

}  // namespace orrery::volume
