// How the times of a partition's writes are ordered, and finding a write by its time.
//
// The invariant: a write's time is the clock's, or that of the write before it, if the clock is
// behind that by kTimeAheadMax_s at most. So times never go back for a small correction of the
// clock, and are never more than that ahead of it. Only where the clock is set back by more do they
// go back with it. (An item that was written while the clock was ahead keeps the time it was given,
// and expires as much later.)
//
// Where times went back is noted in the partition's record: up to `until` and again after `from`
// they are in the order of the LSNs. In between they may not be; the note covers every place where
// they went back, so it is exact for one such place and too wide for several.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/result.h"

namespace orrery::partition {

// More than what is corrected in a clock that is looked after, and little for an item's life.
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

// A position (LSN) with nothing at or before it that was written at `time_s` or later: the last one
// such, unless times are out of order there. `first_after(lsn)` gives the first write that is left
// after an LSN: Result<std::optional<TimedWrite>>. Writes after `newest` do not count.
template <class FirstAfter>
Result<uint64_t> position_before(int64_t time_s, const TimeOrder& order, uint64_t newest,
                                 const FirstAfter& first_after) {
  uint64_t before = 0;  // everything up to here is older
  uint64_t until = newest;
  if (order.from != 0) {
    if (time_s <= order.until_s) {
      until = order.until;
    } else if (time_s <= order.from_s) {
      return order.until;
    } else {
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
