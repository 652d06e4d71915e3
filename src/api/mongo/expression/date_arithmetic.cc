// See date_arithmetic.h; and $dateAdd, $dateSubtract, $dateDiff, $dateTrunc.
#include "api/mongo/expression/date_arithmetic.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "api/mongo/expression/operators.h"

namespace orrery::mongo {
namespace {

constexpr std::array<std::string_view, 9> kUnitNames = {
    "year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond"};

// From the long names; the first three letters do too.
constexpr std::array<std::string_view, 7> kWeekdays = {
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"};

constexpr int64_t kMonday = 1;
constexpr int64_t kSunday = 7;

std::unexpected<Error> out_of_range(std::string_view what, int64_t amount, TimeUnit unit) {
  return refuse(5976500, fmt::format("{} {} {}s: the date is out of range", what, amount,
                                     kUnitNames[static_cast<size_t>(unit)]));
}

std::optional<int64_t> ms_of_days(int64_t days) {
  int64_t ms = 0;
  if (__builtin_mul_overflow(days, kMsInDay, &ms)) return std::nullopt;
  return ms;
}

int64_t months_in(TimeUnit unit) {
  return unit == TimeUnit::year ? 12 : unit == TimeUnit::quarter ? 3 : 1;
}

}  // namespace

std::optional<TimeUnit> time_unit_of(std::string_view name) {
  const auto* const found = std::ranges::find(kUnitNames, name);
  if (found == kUnitNames.end()) return std::nullopt;
  return static_cast<TimeUnit>(found - kUnitNames.begin());
}

std::optional<int64_t> fixed_length(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::year:
    case TimeUnit::quarter:
    case TimeUnit::month:
      return std::nullopt;
    case TimeUnit::week:
      return 7 * kMsInDay;
    case TimeUnit::day:
      return kMsInDay;
    case TimeUnit::hour:
      return kMsInHour;
    case TimeUnit::minute:
      return kMsInMinute;
    case TimeUnit::second:
      return kMsInSecond;
    case TimeUnit::millisecond:
      break;
  }
  return 1;
}

Answer<int64_t> add_units(int64_t ms, TimeUnit unit, int64_t amount, const TimeZone& zone) {
  const auto length = fixed_length(unit);
  if (length) {
    int64_t change = 0;
    int64_t result = 0;
    if (__builtin_mul_overflow(*length, amount, &change) ||
        __builtin_add_overflow(ms, change, &result)) {
      return out_of_range("adding", amount, unit);
    }
    // Days are days of the calendar, of 23 hours as well.
    if (unit > TimeUnit::day) return result;
    return zone.to_utc(saturating_add(zone.to_local(ms), change));
  }
  // Dates have 292 million years either way.
  constexpr int64_t kMostMonths = int64_t{12} * 292'000'000;
  int64_t months = 0;
  if (__builtin_mul_overflow(amount, months_in(unit), &months) || months > kMostMonths ||
      months < -kMostMonths) {
    return out_of_range("adding", amount, unit);
  }
  const LocalTime time = local_time(zone.to_local(ms));
  const int64_t month0 = time.date.month - 1 + months;
  CivilDate date = {.year = time.date.year + floor_divide(month0, 12),
                    .month = month0 - floor_divide(month0, 12) * 12 + 1,
                    .day = time.date.day};
  date.day = std::min(date.day, days_in_month(date.year, date.month));
  const auto midnight = ms_of_days(days_of(date));
  if (!midnight) return out_of_range("adding", amount, unit);
  return zone.to_utc(saturating_add(*midnight, time.hour * kMsInHour + time.minute * kMsInMinute +
                                                   time.second * kMsInSecond + time.ms));
}

int64_t units_between(int64_t start, int64_t end, TimeUnit unit, const TimeZone& zone,
                      int64_t week_start) {
  const int64_t start_offset = zone.offset_at(start);
  const int64_t end_offset = zone.offset_at(end);
  const LocalTime from = local_time(saturating_add(start, start_offset));
  const LocalTime to = local_time(saturating_add(end, end_offset));
  const auto quarters = [](const LocalTime& time) {
    return time.date.year * 4 + (time.date.month - 1) / 3;
  };
  // 1970-01-01 was a Thursday: Mondays are at -3, 4, …
  const auto weeks = [&](int64_t days) { return floor_divide(days + 3 - (week_start - 1), 7); };
  switch (unit) {
    case TimeUnit::year:
      return to.date.year - from.date.year;
    case TimeUnit::quarter:
      return quarters(to) - quarters(from);
    case TimeUnit::month:
      return (to.date.year - from.date.year) * 12 + to.date.month - from.date.month;
    case TimeUnit::week:
      return weeks(to.days) - weeks(from.days);
    case TimeUnit::day:
      return to.days - from.days;
    case TimeUnit::hour:
      return floor_divide(saturating_add(end, end_offset), kMsInHour) -
             floor_divide(saturating_add(start, start_offset), kMsInHour) +
             floor_divide(start_offset - end_offset, kMsInHour);
    case TimeUnit::minute:
      return floor_divide(end, kMsInMinute) - floor_divide(start, kMsInMinute);
    case TimeUnit::second:
      return floor_divide(end, kMsInSecond) - floor_divide(start, kMsInSecond);
    case TimeUnit::millisecond:
      break;
  }
  return end - start;
}

Answer<int64_t> truncate_to(int64_t ms, TimeUnit unit, int64_t bin, const TimeZone& zone,
                            int64_t week_start) {
  const CivilDate kStart = {.year = 2000, .month = 1, .day = 1};  // a Saturday
  const int64_t start_days = days_of(kStart);
  const auto length = fixed_length(unit);
  if (length && unit > TimeUnit::day) {
    int64_t width = 0;
    int64_t since = 0;
    const int64_t start = zone.to_utc(start_days * kMsInDay);
    if (__builtin_mul_overflow(*length, bin, &width) || __builtin_sub_overflow(ms, start, &since)) {
      return out_of_range("truncating to", bin, unit);
    }
    int64_t result = 0;
    if (__builtin_mul_overflow(floor_divide(since, width), width, &result) ||
        __builtin_add_overflow(start, result, &result)) {
      return out_of_range("truncating to", bin, unit);
    }
    return result;
  }
  const LocalTime time = local_time(zone.to_local(ms));
  constexpr int64_t kMostUnits = 1'000'000'000'000;
  if (bin > kMostUnits) return out_of_range("truncating to", bin, unit);
  if (length) {
    constexpr int64_t kSaturday = 6;
    const int64_t per = unit == TimeUnit::week ? 7 : 1;
    const int64_t start = start_days + (per == 7 ? (week_start - kSaturday + 7) % 7 : 0);
    const int64_t width = per * bin;
    const auto result = ms_of_days(start + floor_divide(time.days - start, width) * width);
    if (!result) return out_of_range("truncating to", bin, unit);
    return zone.to_utc(*result);
  }
  const int64_t width = months_in(unit) * bin;
  const int64_t months = (time.date.year - 2000) * 12 + time.date.month - 1;
  const int64_t month0 = floor_divide(months, width) * width;
  const auto result = ms_of_days(days_of({.year = 2000, .month = 1 + month0, .day = 1}));
  if (!result) return out_of_range("truncating to", bin, unit);
  return zone.to_utc(*result);
}

namespace {

Answer<TimeUnit> require_unit(const Arguments& arguments, const Value& unit) {
  if (!unit.is_string()) {
    return refuse(5439013, fmt::format("{} requires 'unit' to be a string, but got {}",
                                       arguments.name, type_name(unit)));
  }
  const auto found = time_unit_of(unit.text());
  if (!found) {
    return refuse(kFailedToParse, fmt::format("{} parameter 'unit' value cannot be recognized as a "
                                              "time unit: {}",
                                              arguments.name, unit.text()));
  }
  return *found;
}

// The given day's number, Monday being 1.
Answer<int64_t> require_weekday(const Arguments& arguments, const Value& day) {
  if (!day.is_string()) {
    return refuse(5439015, fmt::format("{} requires 'startOfWeek' to be a string, but got {}",
                                       arguments.name, type_name(day)));
  }
  std::string name(day.text());
  std::ranges::transform(name, name.begin(), [](char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  });
  for (size_t i = 0; i < kWeekdays.size(); ++i) {
    if (name == kWeekdays[i] || name == kWeekdays[i].substr(0, 3)) {
      return static_cast<int64_t>(i) + kMonday;
    }
  }
  return refuse(kFailedToParse, fmt::format("{} parameter 'startOfWeek' value cannot be recognized "
                                            "as a day of a week: {}",
                                            arguments.name, day.text()));
}

template <bool kMinus>
Answer<Value> date_add(const Arguments& arguments) {
  const Value& date = arguments[0];
  const Value& amount = arguments[2];
  auto zone = require_zone(arguments[3], arguments.has(3));
  if (is_nullish(date) || is_nullish(arguments[1]) || is_nullish(amount)) return Value::make_null();
  if (zone && !*zone) return Value::make_null();
  const auto ms = date_ms(date);
  if (!ms) {
    return refuse(5166403,
                  fmt::format("{} requires startDate to be convertible to a date", arguments.name));
  }
  auto unit = require_unit(arguments, arguments[1]);
  if (!unit) return pass(std::move(unit.error()));
  const auto count = exact_integer(amount);
  if (!count) {
    return refuse(5166405, fmt::format("{} expects integer amount of time units", arguments.name));
  }
  if (!zone) return pass(std::move(zone.error()));
  if (*count == std::numeric_limits<int64_t>::min()) {
    return out_of_range(arguments.name, *count, *unit);
  }
  auto result = add_units(*ms, *unit, kMinus ? -*count : *count, **zone);
  if (!result) return pass(std::move(result.error()));
  return make_date(*result);
}

Answer<Value> do_diff(const Arguments& arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if ((i < 3 || arguments.has(i)) && i < 4 && is_nullish(arguments[i])) return Value::make_null();
  }
  std::array<int64_t, 2> dates = {};
  for (size_t i = 0; i < 2; ++i) {
    const auto ms = date_ms(arguments[i]);
    if (!ms) {
      return refuse(5166307,
                    fmt::format("$dateDiff requires '{}' to be a date, but got {}",
                                i == 0 ? "startDate" : "endDate", type_name(arguments[i])));
    }
    dates[i] = *ms;
  }
  auto unit = require_unit(arguments, arguments[2]);
  if (!unit) return pass(std::move(unit.error()));
  int64_t week_start = kSunday;
  if (*unit == TimeUnit::week && arguments.has(4)) {
    if (is_nullish(arguments[4])) return Value::make_null();
    auto day = require_weekday(arguments, arguments[4]);
    if (!day) return pass(std::move(day.error()));
    week_start = *day;
  }
  auto zone = require_zone(arguments[3], arguments.has(3));
  if (!zone) return pass(std::move(zone.error()));
  if (!*zone) return Value::make_null();
  int64_t span = 0;
  if (__builtin_sub_overflow(dates[1], dates[0], &span)) {
    return refuse(5166308, "$dateDiff overflowed");
  }
  return make_int64(units_between(dates[0], dates[1], *unit, **zone, week_start));
}

Answer<Value> do_trunc(const Arguments& arguments) {
  const Value& date = arguments[0];
  if (is_nullish(date) || is_nullish(arguments[1])) return Value::make_null();
  for (size_t i = 2; i < 4; ++i) {
    if (arguments.has(i) && is_nullish(arguments[i])) return Value::make_null();
  }
  const auto ms = date_ms(date);
  if (!ms) {
    return refuse(5439012, fmt::format("$dateTrunc requires 'date' to be a date, but got {}",
                                       type_name(date)));
  }
  auto unit = require_unit(arguments, arguments[1]);
  if (!unit) return pass(std::move(unit.error()));
  int64_t bin = 1;
  if (arguments.has(2)) {
    const auto size = exact_integer(arguments[2]);
    if (!size) {
      return refuse(5439017,
                    fmt::format("$dateTrunc requires 'binSize' to be a 64-bit integer, but "
                                "got value '{}' of type {}",
                                shown(arguments[2]), type_name(arguments[2])));
    }
    if (*size <= 0) {
      return refuse(5439018, fmt::format("$dateTrunc requires 'binSize' to be greater than 0, but "
                                         "got value {}",
                                         *size));
    }
    bin = *size;
  }
  int64_t week_start = kSunday;
  if (*unit == TimeUnit::week && arguments.has(4)) {
    if (is_nullish(arguments[4])) return Value::make_null();
    auto day = require_weekday(arguments, arguments[4]);
    if (!day) return pass(std::move(day.error()));
    week_start = *day;
  }
  auto zone = require_zone(arguments[3], arguments.has(3));
  if (!zone) return pass(std::move(zone.error()));
  auto result = truncate_to(*ms, *unit, bin, **zone, week_start);
  if (!result) return pass(std::move(result.error()));
  return make_date(*result);
}

constexpr std::array<Parameter, kMaxParameters> kAddParameters = {
    Parameter{"startDate", 5166402}, Parameter{"unit", 5166402}, Parameter{"amount", 5166402},
    Parameter{"timezone"}};

constexpr std::array kDateArithmeticNamed = {
    NamedOperator{"$dateAdd", kAddParameters, 5166401, 5166400, date_add<false>},
    NamedOperator{"$dateSubtract", kAddParameters, 5166401, 5166400, date_add<true>},
    NamedOperator{"$dateDiff",
                  {Parameter{"startDate", 5166303}, Parameter{"endDate", 5166304},
                   Parameter{"unit", 5166305}, Parameter{"timezone"}, Parameter{"startOfWeek"}},
                  5166302,
                  5166301,
                  do_diff},
    NamedOperator{"$dateTrunc",
                  {Parameter{"date", 5439009}, Parameter{"unit", 5439010}, Parameter{"binSize"},
                   Parameter{"timezone"}, Parameter{"startOfWeek"}},
                  5439008,
                  5439007,
                  do_trunc},
};

}  // namespace

OperatorTables date_arithmetic_operators() {
  return {.named = kDateArithmeticNamed};
}

}  // namespace orrery::mongo
