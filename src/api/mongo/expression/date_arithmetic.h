// Units of time: adding them to dates, counting them between dates, and cutting dates to them.
// Also what $densify and windows over ranges of dates use.
//
// Pure; any thread may call.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "api/mongo/bson/error.h"
#include "api/mongo/expression/dates.h"

namespace orrery::mongo {

enum class TimeUnit : uint8_t {
  year,
  quarter,
  month,
  week,
  day,
  hour,
  minute,
  second,
  millisecond,
};

std::optional<TimeUnit> time_unit_of(std::string_view name);
// Milliseconds of the units that always have as many; nothing of years, quarters and months.
std::optional<int64_t> fixed_length(TimeUnit unit);

// Months that are too short for the day end on their last. An error beyond the range of dates.
Answer<int64_t> add_units(int64_t ms, TimeUnit unit, int64_t amount, const TimeZone& zone);
// How many beginnings of the unit lie between; weeks start on the given day (1: Monday).
int64_t units_between(int64_t start, int64_t end, TimeUnit unit, const TimeZone& zone,
                      int64_t week_start);
// The beginning of the bin of so many units, counted from the year 2000.
Answer<int64_t> truncate_to(int64_t ms, TimeUnit unit, int64_t bin, const TimeZone& zone,
                            int64_t week_start);

}  // namespace orrery::mongo
