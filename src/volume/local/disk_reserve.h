// Reserved disk space, so that the server keeps working when the disk is full.
//
// There are two parts:
//  - The reserve. While less than this is free, writes that make the data grow are refused. What is
//    left serves removals, and the flushes and compactions that free space.
//  - The ballast: a file of half the reserve, at most 8 MB, whose space other programs cannot take.
//    When less than a quarter of its size is free, other programs have filled the disk. Then the
//    file shrinks by a quarter, so that partitions can be opened and removals written; and again if
//    that space is used up too. It is restored as soon as it fits beside the reserve. Until then
//    writes that make the data grow are refused.
//
// Thread-safe. Asking costs an atomic load; the disk is looked at ten times a second at most.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/thread_annotations.h"
#include "volume/volume.h"

namespace orrery::volume {

class DiskReserve {
 public:
  // What is free on the disk of a folder; nothing when that cannot be told.
  using Measure = std::function<std::optional<uint64_t>()>;
  static Measure free_bytes_of(const std::string& folder);

  // With a reserve of 0 there is always room, as far as this knows.
  DiskReserve(std::string ballast_path, uint64_t reserve_bytes, Measure measure,
              int64_t look_every_us = 100'000);

  // Code::read_only, with what is free and what is kept, while there is too little for this.
  // Compactions get all of the reserve but an eighth.
  Status room(Need need = Need::growth);

 private:
  void look() ORRERY_REQUIRES(mutex_);
  // How large the ballast is afterwards.
  uint64_t make_ballast() const;
  uint64_t give_piece() const ORRERY_REQUIRES(mutex_);

  const std::string path_;
  const uint64_t reserve_bytes_;
  const uint64_t ballast_max_bytes_;
  const Measure measure_;
  const int64_t look_every_us_;
  std::atomic<int64_t> look_again_us_ = INT64_MIN;
  std::atomic<bool> low_ = false;
  std::atomic<uint64_t> free_bytes_ = 0;
  Mutex mutex_;  // of whoever is looking
  uint64_t ballast_bytes_ ORRERY_GUARDED_BY(mutex_) = 0;
};

}  // namespace orrery::volume
