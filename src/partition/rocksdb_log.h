// What RocksDB has to say, in the server's own log: it writes no LOG file of its own beside the
// data. That file could not be written on a full disk, and builds of RocksDB with assertions (as
// Debian's is) end the process when it is written to again after an error.
//
// Warnings and errors only, and some a second at most: RocksDB repeats itself when a disk fails.
// Thread-safe.
#pragma once

#include <rocksdb/env.h>

#include <cstdint>

#include "base/clock.h"
#include "base/thread_annotations.h"

namespace orrery::partition {

class RocksDbLog final : public rocksdb::Logger {
 public:
  explicit RocksDbLog(const Clock& clock);

  using rocksdb::Logger::Logv;
  void Logv(rocksdb::InfoLogLevel level, const char* format, va_list arguments) override;
  void Logv(const char* format, va_list arguments) override;

 private:
  // Whether one more line may be written now; gives how many were left out before it.
  bool may_write(uint64_t& left_out);

  const Clock& clock_;
  Mutex mutex_;
  int64_t second_ ORRERY_GUARDED_BY(mutex_) = INT64_MIN;
  int lines_ ORRERY_GUARDED_BY(mutex_) = 0;  // in that second
  uint64_t left_out_ ORRERY_GUARDED_BY(mutex_) = 0;
};

}  // namespace orrery::partition
