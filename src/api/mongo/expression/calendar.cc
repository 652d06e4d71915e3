// Civil dates, ISO weeks and time zones of dates.h.
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>
#include <unicode/basictz.h>
#include <unicode/timezone.h>

#include "api/mongo/expression/dates.h"

namespace orrery::mongo {
namespace {

constexpr size_t kZonesKept = 64;

std::optional<int64_t> parse_offset(std::string_view text) {
  if (text.size() < 3 || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  const bool is_minus = text[0] == '-';
  std::string digits(text.substr(1));
  if (digits.size() == 5 && digits[2] == ':') digits.erase(2, 1);
  if (digits.size() != 2 && digits.size() != 4) return std::nullopt;
  int number = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (problem != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  const int hours = digits.size() == 2 ? number : number / 100;
  const int minutes = digits.size() == 2 ? 0 : number % 100;
  if (minutes > 59) return std::nullopt;
  const int64_t ms = hours * kMsInHour + minutes * kMsInMinute;
  return is_minus ? -ms : ms;
}

}  // namespace

int64_t days_of(const CivilDate& date) {
  const int64_t month0 = date.month - 1;
  int64_t year = date.year + floor_divide(month0, 12);
  const int64_t month = month0 - floor_divide(month0, 12) * 12 + 1;
  // Years that start in March have their leap day at the end.
  if (month <= 2) --year;
  const int64_t era = floor_divide(year, 400);
  const int64_t year_of_era = year - era * 400;
  const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5;
  return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
         719468 + (date.day - 1);
}

CivilDate civil_of(int64_t days) {
  days += 719468;
  const int64_t era = floor_divide(days, 146097);
  const int64_t day_of_era = days - era * 146097;
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t march_month = (5 * day_of_year + 2) / 153;
  const int64_t month = march_month < 10 ? march_month + 3 : march_month - 9;
  return {.year = year_of_era + era * 400 + (month <= 2 ? 1 : 0),
          .month = month,
          .day = day_of_year - (153 * march_month + 2) / 5 + 1};
}

int64_t days_in_month(int64_t year, int64_t month) {
  return days_of({.year = year, .month = month + 1, .day = 1}) -
         days_of({.year = year, .month = month, .day = 1});
}

IsoWeek iso_week_of(int64_t days) {
  // 1970-01-01 was a Thursday.
  const int64_t weekday = (days + 3) - floor_divide(days + 3, 7) * 7 + 1;
  // A week belongs to the year of its Thursday.
  const int64_t thursday = days - (weekday - 4);
  const int64_t year = civil_of(thursday).year;
  return {.year = year,
          .week = (thursday - days_of({.year = year, .month = 1, .day = 1})) / 7 + 1,
          .weekday = weekday};
}

int64_t days_of(const IsoWeek& week) {
  // January 4 is always in the first week.
  const int64_t fourth = days_of({.year = week.year, .month = 1, .day = 4});
  const int64_t monday = fourth - (iso_week_of(fourth).weekday - 1);
  return monday + (week.week - 1) * 7 + (week.weekday - 1);
}

LocalTime local_time(int64_t local_ms) {
  LocalTime time;
  time.days = floor_divide(local_ms, kMsInDay);
  time.date = civil_of(time.days);
  // By the remainder: of the first dates there are, the day begins before what 64 bits hold.
  const int64_t rest = (local_ms % kMsInDay + kMsInDay) % kMsInDay;
  time.hour = rest / kMsInHour;
  time.minute = rest / kMsInMinute % 60;
  time.second = rest / kMsInSecond % 60;
  time.ms = rest % kMsInSecond;
  return time;
}

struct TimeZone::Rules {
  std::unique_ptr<icu::TimeZone> zone;
};

TimeZone TimeZone::of_offset(int64_t ms) {
  TimeZone zone;
  zone.fixed_ms_ = ms;
  return zone;
}

Answer<TimeZone> TimeZone::parse(std::string_view name) {
  if (name == "UTC" || name == "GMT" || name == "Z") return TimeZone();
  if (const auto offset = parse_offset(name)) return of_offset(*offset);
  thread_local std::map<std::string, TimeZone, std::less<>> known;
  if (const auto found = known.find(name); found != known.end()) return found->second;
  const auto refused = [&] {
    return refuse(40485, fmt::format("unrecognized time zone identifier: \"{}\"", name));
  };
  constexpr size_t kMaxName = 64;
  // ICU takes "GMT+3" for an offset; MongoDB does not.
  if (name.empty() || name.size() > kMaxName || name[0] == '+' || name[0] == '-' ||
      name.starts_with("GMT")) {
    return refused();
  }
  auto rules = std::make_shared<Rules>();
  rules->zone.reset(icu::TimeZone::createTimeZone(icu::UnicodeString::fromUTF8(
      icu::StringPiece(name.data(), static_cast<int32_t>(name.size())))));
  if (!rules->zone || *rules->zone == icu::TimeZone::getUnknown()) return refused();
  TimeZone zone;
  zone.rules_ = std::move(rules);
  if (known.size() >= kZonesKept) known.clear();
  known.emplace(name, zone);
  return zone;
}

int64_t TimeZone::offset_at(int64_t utc_ms) const {
  if (!rules_) return fixed_ms_;
  int32_t raw = 0;
  int32_t saving = 0;
  UErrorCode status = U_ZERO_ERROR;
  rules_->zone->getOffset(static_cast<double>(utc_ms), 0, raw, saving, status);
  return U_FAILURE(status) ? 0 : raw + saving;
}

int64_t TimeZone::to_utc(int64_t local_ms) const {
  if (!rules_) return saturating_add(local_ms, -fixed_ms_);
  int32_t raw = 0;
  int32_t saving = 0;
  UErrorCode status = U_ZERO_ERROR;
  rules_->zone->getOffset(static_cast<double>(local_ms), 1, raw, saving, status);
  return U_FAILURE(status) ? local_ms : saturating_add(local_ms, -(int64_t{raw} + saving));
}

std::optional<int64_t> date_ms(const Value& value) {
  switch (value.type()) {
    case Type::date:
      return value.date().ms;
    case Type::timestamp:
      return static_cast<int64_t>(value.timestamp() >> 32) * kMsInSecond;
    case Type::object_id: {
      int64_t seconds = 0;
      for (const char byte : value.bytes().substr(0, 4)) {
        seconds = seconds * 256 + static_cast<unsigned char>(byte);
      }
      return static_cast<int32_t>(seconds) * kMsInSecond;
    }
    default:
      return std::nullopt;
  }
}

Answer<int64_t> require_date(const Value& value) {
  const auto ms = date_ms(value);
  if (!ms)
    return refuse(16006, fmt::format("can't convert from BSON type {} to Date", type_name(value)));
  return *ms;
}

Answer<std::optional<TimeZone>> require_zone(const Value& zone, bool is_given) {
  if (!is_given) return TimeZone();
  if (is_nullish(zone)) return std::nullopt;
  if (!zone.is_string()) {
    return refuse(40517,
                  fmt::format("timezone must evaluate to a string, found {}", type_name(zone)));
  }
  auto parsed = TimeZone::parse(zone.text());
  if (!parsed) return pass(std::move(parsed.error()));
  return std::optional(std::move(*parsed));
}

}  // namespace orrery::mongo
