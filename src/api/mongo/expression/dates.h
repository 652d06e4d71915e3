// Calendar and time zones of the date operators: civil dates (proleptic Gregorian) of milliseconds
// since 1970, ISO weeks, offsets by ICU's time zones, and texts of dates.
//
// Pure; any thread may call.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/mongo/bson/error.h"
#include "api/mongo/bson/types.h"

namespace orrery::mongo {

inline constexpr int64_t kMsInSecond = 1000;
inline constexpr int64_t kMsInMinute = 60 * kMsInSecond;
inline constexpr int64_t kMsInHour = 60 * kMsInMinute;
inline constexpr int64_t kMsInDay = 24 * kMsInHour;

inline int64_t floor_divide(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

inline int64_t saturating_add(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

struct CivilDate {
  int64_t year = 1970;
  int64_t month = 1;  // 1 to 12
  int64_t day = 1;    // 1 to 31
};
// Days since 1970. Months and days out of range carry over.
int64_t days_of(const CivilDate& date);
CivilDate civil_of(int64_t days);
int64_t days_in_month(int64_t year, int64_t month);

struct IsoWeek {
  int64_t year = 1970;
  int64_t week = 1;     // 1 to 53
  int64_t weekday = 1;  // 1: Monday, 7: Sunday
};
IsoWeek iso_week_of(int64_t days);
int64_t days_of(const IsoWeek& week);

// A local time in parts.
struct LocalTime {
  CivilDate date;
  int64_t days = 0;  // since 1970
  int64_t hour = 0;
  int64_t minute = 0;
  int64_t second = 0;
  int64_t ms = 0;
};
LocalTime local_time(int64_t local_ms);

class TimeZone {
 public:
  TimeZone() = default;  // UTC
  // A name of the tz database, UTC, or an offset: +03, -0530, +05:30.
  static Answer<TimeZone> parse(std::string_view name);
  static TimeZone of_offset(int64_t ms);

  int64_t offset_at(int64_t utc_ms) const;
  // At the ends of the range of dates these stop there.
  int64_t to_local(int64_t utc_ms) const { return saturating_add(utc_ms, offset_at(utc_ms)); }
  int64_t to_utc(int64_t local_ms) const;

 private:
  struct Rules;
  int64_t fixed_ms_ = 0;
  std::shared_ptr<const Rules> rules_;  // null: the fixed offset
};

// The milliseconds of what can stand for a date: a date, a timestamp, an ObjectId.
std::optional<int64_t> date_ms(const Value& value);
Answer<int64_t> require_date(const Value& value);
// Of the argument `timezone`. Nothing when it is given and null: the result is null then.
Answer<std::optional<TimeZone>> require_zone(const Value& zone, bool is_given);

// By a format of %Y, %m, …; refuses unknown letters (18536) and years beyond 9999 (18537).
Answer<std::string> format_date(int64_t utc_ms, std::string_view format, const TimeZone& zone);
Answer<void> check_format(std::string_view format, bool is_for_parsing);
std::string iso_text(int64_t utc_ms);
// The other way. Without a format: ISO 8601 and its relatives. A zone in the text excludes `zone`.
Answer<int64_t> parse_date(std::string_view text, std::optional<std::string_view> format,
                           const std::optional<TimeZone>& zone);

}  // namespace orrery::mongo
