// The newest commits of a partition, as they were written: for archives from which a state in
// between two backups is made again.
//
// A commit is one RocksDB write batch, with the sequence numbers that it took and the time when it
// was made. Applied in their order to a copy of the files (import.h), batches give the same state:
// numbers tell that none is missing.
//
// A tail is in memory, kCommitTailBytes at most unless it is asked to keep more. One that was not
// read for too long, or whose partition was opened again meanwhile with other commits, has a gap:
// Code::precondition_failed, and whoever follows takes a new copy of the files.
//
// Threading: any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/thread_annotations.h"
#include "partition/partition.h"

namespace orrery::partition {

inline constexpr size_t kCommitTailBytes = 16ULL << 20;

struct CommitBatch {
  uint64_t first = 0;  // sequence numbers, both included
  uint64_t last = 0;
  int64_t time_ms = 0;
  std::string bytes;
};

struct CommitPage {
  std::vector<CommitBatch> batches;
  uint64_t sequence = 0;  // every batch up to this is known now
  int64_t until_ms = 0;   // nothing that is not in here was committed up to this time
  bool more = false;
};

class CommitTail {
 public:
  CommitTail(const Clock& clock, uint64_t after, size_t bytes_max = kCommitTailBytes)
      : clock_(clock), bytes_max_(bytes_max), after_(after), last_(after) {}

  // By whoever commits.
  void add(uint64_t first, uint64_t count, std::string_view bytes) noexcept;
  // What came after a sequence number. Forgets what came before.
  Result<CommitPage> read(uint64_t after, size_t bytes_max);

 private:
  const Clock& clock_;
  const size_t bytes_max_;
  Mutex mutex_;
  std::deque<CommitBatch> batches_ ORRERY_GUARDED_BY(mutex_);
  size_t bytes_ ORRERY_GUARDED_BY(mutex_) = 0;
  uint64_t after_ ORRERY_GUARDED_BY(mutex_);  // it has all from here
  uint64_t last_ ORRERY_GUARDED_BY(mutex_);   // to here
};

// Follows one partition over its openings.
class CommitFollower {
 public:
  // Begins to follow with the first call.
  Result<CommitPage> read(const std::shared_ptr<Partition>& partition, uint64_t after,
                          size_t bytes_max);

 private:
  std::weak_ptr<Partition> partition_;
  uint64_t generation_ = 0;
  std::shared_ptr<CommitTail> tail_;
};

}  // namespace orrery::partition
