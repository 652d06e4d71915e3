// How far a command is that copies or reads files: a line that is written over on a terminal, a
// line now and then elsewhere; on standard error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace orrery::cli {

class ByteProgress {
 public:
  // `quiet`: shows nothing.
  explicit ByteProgress(bool quiet);
  ~ByteProgress() { finish(); }
  ByteProgress(const ByteProgress&) = delete;
  ByteProgress& operator=(const ByteProgress&) = delete;

  // Shows it if it is time to. `bytes` of `bytes_all`; 0: the whole is not known.
  void show(std::string_view what, size_t partitions, size_t partitions_all, uint64_t bytes,
            uint64_t bytes_all);
  // Takes the line away: what follows is not progress.
  void finish();
  double seconds() const;

 private:
  enum class Mode : uint8_t { none, lines, over };
  const Mode mode_;
  RealClock clock_;
  const int64_t begun_us_;
  int64_t shown_us_;
  bool has_line_ = false;
};

}  // namespace orrery::cli
