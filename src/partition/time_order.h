// Write timestamps of a partition, and finding the position of a time.
//
// Invariant: the timestamp of a write is the clock's. If the clock is behind the previous write by
// at most kTimeAheadMax_s, it is that write's timestamp instead. So small corrections of the clock
// never make timestamps go back, and they are never ahead of the clock by more than that. Only when
// the clock is set back by more do timestamps go back with it. (An item that was written while the
// clock was ahead keeps its timestamp, and expires that much later.)
//
// The partition's record notes where timestamps went back: up to LSN `until`, and after LSN `from`,
// they are in LSN order. In between they may not be. One such interval covers all places, so it is
// exact for one step back and too wide for several. Two partitions that were merged each had an
// order of their own: up to the LSN where the merged one goes on there is none.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/result.h"

namespace orrery::partition {

// More than the usual correction of a maintained clock, and little compared with the life of an
// item.
inline constexpr uint32_t kTimeAheadMax_s = 60;

// Of a write now, when the newest one before it has `newest_s`.
inline uint32_t next_time_s(uint32_t newest_s, int64_t now_s) {
  const int64_t clock_s = std::clamp<int64_t>(now_s, 0, UINT32_MAX);
  const int64_t ahead_s = int64_t{newest_s} - clock_s;
  return ahead_s > 0 && ahead_s <= kTimeAheadMax_s ? newest_s : static_cast<uint32_t>(clock_s);
}

struct TimeOrder {
  uint64_t until = 0;    // times are in order up to this LSN
  uint32_t until_s = 0;  // the time of that write
  uint64_t from = 0;     // after this LSN they are in order again; 0: they are everywhere
  uint32_t from_s = 0;   // the largest time up to there

  // The write after `lsn`, whose time is `newest_s`, goes back.
  void note_step_back(uint64_t lsn, uint32_t newest_s) {
    if (from == 0) {
      until = lsn;
      until_s = newest_s;
    }
    from = lsn;
    from_s = std::max(from_s, newest_s);
  }
  bool operator==(const TimeOrder&) const = default;
};

struct TimedWrite {
  uint64_t lsn = 0;
  uint32_t time_s = 0;
};

// Writes without an order that are looked at one by one, to find the position of a time. Beyond
// that, the position is earlier than it need be.
inline constexpr size_t kUnorderedScanMax = 20'000;

// A position (LSN) such that all writes at `time_s` or later come after it. It is the last such
// LSN, unless timestamps are out of order there. `first_after(lsn)` returns the first write after
// an LSN that still has an entry: Result<std::optional<TimedWrite>>. Writes after `newest` are
// ignored.
template <class FirstAfter>
Result<uint64_t> position_before(int64_t time_s, const TimeOrder& order, uint64_t newest,
                                 const FirstAfter& first_after) {
  uint64_t before = 0;  // everything up to here is older
  uint64_t until = newest;
  if (order.from != 0) {
    if (time_s <= order.until_s) {
      until = order.until;
    } else {
      if (time_s <= order.from_s) {
        before = order.until;
        for (size_t looked_at = 0;; ++looked_at) {
          Result<std::optional<TimedWrite>> found = first_after(before);
          if (!found) return pass(found.error());
          if (!*found || (*found)->lsn > order.from) break;
          if ((*found)->time_s >= time_s) return (*found)->lsn - 1;
          before = (*found)->lsn;
          if (looked_at == kUnorderedScanMax) return before;
        }
      }
      before = order.from;
    }
  }
  // By halving, but first at the near end: often there is nothing older.
  for (uint64_t probe = before; before < until; probe = before + (until - before) / 2) {
    Result<std::optional<TimedWrite>> found = first_after(probe);
    if (!found) return pass(found.error());
    // The first write after the probe tells for all between: nothing else is left of those.
    const bool is_older = *found && (*found)->lsn <= until && (*found)->time_s < time_s;
    if (is_older) {
      before = (*found)->lsn;
    } else {
      until = probe;
    }
  }
  return before;
}

}  // namespace orrery::partition
