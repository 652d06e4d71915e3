// What the server's figures were: for the last hour every kFineStepS seconds, for the last week
// every kCoarseStepS. Kept in a file of fixed size in the data folder, so it outlives the server.
//
// The file is two rings of records of 64 bytes, first the fine one, then the coarse one:
//   u32     check: murmur3 of the rest, with the ring's step as its seed
//   u32     Unix time, a multiple of the step
//   f32     kFigures of them, in the order of the enumeration
//   All numbers are little-endian.
// The record of a time has one place, (time / step) % records of the ring: writing needs no head
// and no order. One that does not check, or whose time belongs elsewhere, is a gap. A record is one
// write, and is not synced: a power cut loses the last ones.
//
// Threading: any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "base/thread_annotations.h"

namespace orrery::ops {

enum class Figure : uint8_t {
  reads,  // requests a second, by kind
  writes,
  queries,
  others,
  units,      // charged, a second
  throttled,  // requests a second over a partition's budget
  failed,     // answers a second that say the server is to blame: 500 and above
  median_ms,  // of the time to answer
  p95_ms,
  p99_ms,
  connections,  // open then
  bytes,        // stored then
  items,
  partitions,
};
inline constexpr size_t kFigures = static_cast<size_t>(Figure::partitions) + 1;
inline constexpr std::array<std::string_view, kFigures> kFigureNames = {
    "reads",    "writes", "queries", "others",      "units", "throttled", "failed",
    "medianMs", "p95Ms",  "p99Ms",   "connections", "bytes", "items",     "partitions"};

inline constexpr uint32_t kFineStepS = 5;
inline constexpr uint32_t kCoarseStepS = 60;

struct Sample {
  uint32_t at_s = 0;
  std::array<float, kFigures> figures{};
  float& operator[](Figure figure) { return figures[static_cast<size_t>(figure)]; }
};

class MetricsHistory {
 public:
  // Reads what the file has; makes it when there is none. Without a file name, or when the file
  // cannot be had (which is logged), it is kept in memory alone.
  explicit MetricsHistory(const std::string& file);

  // `step_s` is one of the two steps; the time is rounded down to it.
  void add(uint32_t step_s, Sample sample);
  // The samples of [from_s, to_s] in order of time, as JSON; means of neighbours where there are
  // more than `points_max`. Gaps stay gaps.
  std::string json(uint32_t step_s, int64_t from_s, int64_t to_s, size_t points_max) const;
  std::vector<Sample> samples(uint32_t step_s, int64_t from_s, int64_t to_s) const;

 private:
  struct Ring {
    uint32_t step_s;
    size_t first_record;  // of the file
    std::vector<Sample> places;
  };
  static constexpr size_t kFineRecords = 3600 / kFineStepS;
  static constexpr size_t kCoarseRecords = 7 * 24 * 3600 / kCoarseStepS;

  const Ring& ring_of(uint32_t step_s) const ORRERY_REQUIRES(mutex_) {
    return step_s == kFineStepS ? fine_ : coarse_;
  }
  void load(Ring& ring) ORRERY_REQUIRES(mutex_);

  mutable Mutex mutex_;
  FileDescriptor file_ ORRERY_GUARDED_BY(mutex_);
  Ring fine_ ORRERY_GUARDED_BY(mutex_);
  Ring coarse_ ORRERY_GUARDED_BY(mutex_);
};

}  // namespace orrery::ops
