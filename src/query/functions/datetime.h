// Dates and times as the language has them: UTC, in ticks of 100 ns since 1970-01-01, between the
// years 1 and 9999 of the Gregorian calendar. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace orrery::query {

using Ticks = int64_t;

inline constexpr Ticks kTicksPerMicrosecond = 10;
inline constexpr Ticks kTicksPerMillisecond = 10'000;
inline constexpr Ticks kTicksPerSecond = 10'000'000;
inline constexpr Ticks kTicksPerMinute = 60 * kTicksPerSecond;
inline constexpr Ticks kTicksPerHour = 60 * kTicksPerMinute;
inline constexpr Ticks kTicksPerDay = 24 * kTicksPerHour;
inline constexpr Ticks kMinTicks = -719'162 * kTicksPerDay;       // 0001-01-01
inline constexpr Ticks kMaxTicks = 2'932'897 * kTicksPerDay - 1;  // the end of 9999
inline constexpr Ticks kWindowsEpoch = -134'774 * kTicksPerDay;   // 1601-01-01

struct CalendarTime {
  int64_t year = 1;
  int64_t month = 1;  // 1 … 12
  int64_t day = 1;    // 1 … 31
  int64_t hour = 0;
  int64_t minute = 0;
  int64_t second = 0;
  int64_t fraction = 0;  // ticks within the second
};

enum class DatePart : uint8_t {
  year,
  month,
  day,
  hour,
  minute,
  second,
  millisecond,
  microsecond,
  nanosecond,
};

bool is_in_range(Ticks ticks);
CalendarTime to_calendar(Ticks ticks);
// Empty when a part is out of its range (30 February).
std::optional<Ticks> from_calendar(const CalendarTime& time);

// YYYY-MM-DD, with or without Z; or with T or a space and hh:mm:ss, one to seven digits of a
// fraction, Z: the last two optional. Other time zones are not taken.
std::optional<Ticks> parse_datetime(std::string_view text);
// YYYY-MM-DDThh:mm:ss.fffffffZ
std::string format_datetime(Ticks ticks);
// By a pattern: yyyy yyy yy y, MMMM MMM MM M, dddd ddd dd d, HH H hh h, mm m, ss s, f … fffffff,
// F … FFFFFFF (without the zeros at the end), tt t, 'quoted' and \escaped text; everything else
// stands for itself.
std::string format_datetime(Ticks ticks, std::string_view pattern);

// By any of its names (year, yyyy, yy, …), upper and lower case alike.
std::optional<DatePart> parse_date_part(std::string_view name);
int64_t part_of(DatePart part, Ticks ticks);
// Months and years keep the day, or take the last one of a shorter month. Nanoseconds are cut to
// ticks. Empty when the result is out of range.
std::optional<Ticks> add(DatePart part, int64_t count, Ticks ticks);
// How many boundaries of the part lie between the two.
int64_t difference(DatePart part, Ticks start, Ticks end);
// The start of the bin that holds `ticks`, when bins of `size` parts are laid out from `origin`.
std::optional<Ticks> bin(DatePart part, int64_t size, Ticks origin, Ticks ticks);

}  // namespace orrery::query
