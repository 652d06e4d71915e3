// See datetime.h.
#include "query/functions/datetime.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace orrery::query {

namespace {

constexpr std::array<std::string_view, 12> kMonths = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};
constexpr std::array<std::string_view, 7> kDays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                   "Thursday", "Friday", "Saturday"};

int64_t floor_div(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

bool is_leap(int64_t year) {
  return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

int64_t days_in(int64_t year, int64_t month) {
  constexpr std::array<int64_t, 12> kDaysIn = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap(year) ? 29 : kDaysIn[static_cast<size_t>(month - 1)];
}

// Days since 1970-01-01. Years are counted from March, so that the leap day is the last of one,
// in eras of 400 years, which are all equally long.
int64_t days_of(int64_t year, int64_t month, int64_t day) {
  const int64_t from_march = month > 2 ? month - 3 : month + 9;
  const int64_t shifted = month > 2 ? year : year - 1;
  const int64_t era = floor_div(shifted, 400);
  const int64_t year_of_era = shifted - era * 400;
  const int64_t day_of_year = (153 * from_march + 2) / 5 + day - 1;
  const int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146'097 + day_of_era - 719'468;
}

// Ticks of the parts that are always equally long.
Ticks ticks_in(DatePart part) {
  switch (part) {
    case DatePart::day:
      return kTicksPerDay;
    case DatePart::hour:
      return kTicksPerHour;
    case DatePart::minute:
      return kTicksPerMinute;
    case DatePart::second:
      return kTicksPerSecond;
    case DatePart::millisecond:
      return kTicksPerMillisecond;
    case DatePart::microsecond:
      return kTicksPerMicrosecond;
    default:
      return 1;
  }
}

int64_t months_of(const CalendarTime& time) {
  return time.year * 12 + time.month - 1;
}

std::optional<Ticks> add_months(int64_t count, Ticks ticks) {
  constexpr int64_t kMostMonths = 120'000;
  if (count > kMostMonths || count < -kMostMonths) return std::nullopt;
  CalendarTime time = to_calendar(ticks);
  const int64_t months = months_of(time) + count;
  time.year = floor_div(months, 12);
  time.month = months - time.year * 12 + 1;
  if (time.year < 1 || time.year > 9999) return std::nullopt;
  time.day = std::min(time.day, days_in(time.year, time.month));
  return from_calendar(time);
}

// Reads digits off the front of a text.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}
  bool done() const { return rest_.empty(); }
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool number(size_t digits, int64_t& result) {
    if (rest_.size() < digits) return false;
    result = 0;
    for (size_t i = 0; i < digits; ++i) {
      if (rest_[i] < '0' || rest_[i] > '9') return false;
      result = result * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(digits);
    return true;
  }
  bool fraction(int64_t& result) {
    size_t digits = 0;
    result = 0;
    int64_t digit = 0;
    while (digits < 7 && number(1, digit)) {
      result = result * 10 + digit;
      ++digits;
    }
    if (digits == 0) return false;
    for (; digits < 7; ++digits) result *= 10;
    return true;
  }

 private:
  std::string_view rest_;
};

std::string padded(int64_t number, size_t digits) {
  return fmt::format("{:0{}}", number, digits);
}

std::string fraction_digits(int64_t fraction, size_t digits, bool keep_zeros) {
  std::string text = padded(fraction, 7);
  text.resize(std::min<size_t>(digits, 7));
  while (!keep_zeros && !text.empty() && text.back() == '0') text.pop_back();
  return text;
}

// What a run of one pattern letter stands for.
std::string format_run(const CalendarTime& time, size_t weekday, char letter, size_t length) {
  const auto two = [&](int64_t number) { return padded(number, std::min<size_t>(length, 2)); };
  const int64_t hour12 = time.hour % 12 == 0 ? 12 : time.hour % 12;
  switch (letter) {
    case 'y':
      return length <= 2 ? two(time.year % 100) : padded(time.year, length);
    case 'M': {
      if (length <= 2) return two(time.month);
      const std::string_view name = kMonths[static_cast<size_t>(time.month - 1)];
      return std::string(length == 3 ? name.substr(0, 3) : name);
    }
    case 'd':
      if (length <= 2) return two(time.day);
      return std::string(length == 3 ? kDays[weekday].substr(0, 3) : kDays[weekday]);
    case 'H':
      return two(time.hour);
    case 'h':
      return two(hour12);
    case 'm':
      return two(time.minute);
    case 's':
      return two(time.second);
    case 'f':
      return fraction_digits(time.fraction, length, true);
    case 'F':
      return fraction_digits(time.fraction, length, false);
    case 't':
      return std::string(time.hour < 12 ? "AM" : "PM", std::min<size_t>(length, 2));
    default:
      return std::string(length, letter);
  }
}

}  // namespace

bool is_in_range(Ticks ticks) {
  return ticks >= kMinTicks && ticks <= kMaxTicks;
}

CalendarTime to_calendar(Ticks ticks) {
  const int64_t days = floor_div(ticks, kTicksPerDay);
  const Ticks within = ticks - days * kTicksPerDay;
  const int64_t shifted = days + 719'468;
  const int64_t era = floor_div(shifted, 146'097);
  const int64_t day_of_era = shifted - era * 146'097;
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t from_march = (5 * day_of_year + 2) / 153;
  CalendarTime time;
  time.month = from_march < 10 ? from_march + 3 : from_march - 9;
  time.year = era * 400 + year_of_era + (time.month <= 2 ? 1 : 0);
  time.day = day_of_year - (153 * from_march + 2) / 5 + 1;
  time.hour = within / kTicksPerHour;
  time.minute = within / kTicksPerMinute % 60;
  time.second = within / kTicksPerSecond % 60;
  time.fraction = within % kTicksPerSecond;
  return time;
}

std::optional<Ticks> from_calendar(const CalendarTime& time) {
  const auto is_within = [](int64_t number, int64_t low, int64_t high) {
    return number >= low && number <= high;
  };
  if (!is_within(time.year, 1, 9999) || !is_within(time.month, 1, 12) ||
      !is_within(time.day, 1, days_in(time.year, time.month)) || !is_within(time.hour, 0, 23) ||
      !is_within(time.minute, 0, 59) || !is_within(time.second, 0, 59) ||
      !is_within(time.fraction, 0, kTicksPerSecond - 1)) {
    return std::nullopt;
  }
  return days_of(time.year, time.month, time.day) * kTicksPerDay + time.hour * kTicksPerHour +
         time.minute * kTicksPerMinute + time.second * kTicksPerSecond + time.fraction;
}

std::optional<Ticks> parse_datetime(std::string_view text) {
  Reader in(text);
  CalendarTime time;
  if (!in.number(4, time.year) || !in.take('-') || !in.number(2, time.month) || !in.take('-') ||
      !in.number(2, time.day)) {
    return std::nullopt;
  }
  if (in.take('T') || in.take(' ')) {
    if (!in.number(2, time.hour) || !in.take(':') || !in.number(2, time.minute) || !in.take(':') ||
        !in.number(2, time.second)) {
      return std::nullopt;
    }
    if (in.take('.') && !in.fraction(time.fraction)) return std::nullopt;
  }
  in.take('Z');
  if (!in.done()) return std::nullopt;
  return from_calendar(time);
}

std::string format_datetime(Ticks ticks) {
  const CalendarTime time = to_calendar(ticks);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:07}Z", time.year, time.month, time.day,
                     time.hour, time.minute, time.second, time.fraction);
}

std::string format_datetime(Ticks ticks, std::string_view pattern) {
  constexpr std::string_view kLetters = "yMdHhmsfFt";
  constexpr size_t kMaxRun = 16;
  const CalendarTime time = to_calendar(ticks);
  // 1970-01-01 was a Thursday.
  const int64_t days = floor_div(ticks, kTicksPerDay);
  const auto weekday = static_cast<size_t>(days + 4 - floor_div(days + 4, 7) * 7);
  std::string out;
  for (size_t i = 0; i < pattern.size();) {
    const char c = pattern[i];
    if (c == '\\' && i + 1 < pattern.size()) {
      out.push_back(pattern[i + 1]);
      i += 2;
    } else if (c == '\'' || c == '"') {
      const size_t close = std::min(pattern.find(c, i + 1), pattern.size());
      out.append(pattern.substr(i + 1, close - i - 1));
      i = close + 1;
    } else if (kLetters.find(c) != kLetters.npos) {
      const size_t end = std::min(pattern.find_first_not_of(c, i), pattern.size());
      out.append(format_run(time, weekday, c, std::min(end - i, kMaxRun)));
      i = end;
    } else {
      out.push_back(c);
      ++i;
    }
  }
  return out;
}

std::optional<DatePart> parse_date_part(std::string_view name) {
  struct Name {
    std::string_view text;
    DatePart part;
  };
  constexpr Name kPartNames[] = {
      {"year", DatePart::year},       {"yyyy", DatePart::year},
      {"yy", DatePart::year},         {"month", DatePart::month},
      {"mm", DatePart::month},        {"m", DatePart::month},
      {"day", DatePart::day},         {"dd", DatePart::day},
      {"d", DatePart::day},           {"hour", DatePart::hour},
      {"hh", DatePart::hour},         {"minute", DatePart::minute},
      {"mi", DatePart::minute},       {"n", DatePart::minute},
      {"second", DatePart::second},   {"ss", DatePart::second},
      {"s", DatePart::second},        {"millisecond", DatePart::millisecond},
      {"ms", DatePart::millisecond},  {"microsecond", DatePart::microsecond},
      {"mcs", DatePart::microsecond}, {"nanosecond", DatePart::nanosecond},
      {"ns", DatePart::nanosecond},
  };
  std::string lower(name);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  const auto* const found = std::ranges::find(kPartNames, std::string_view(lower), &Name::text);
  if (found == std::end(kPartNames)) return std::nullopt;
  return found->part;
}

int64_t part_of(DatePart part, Ticks ticks) {
  const CalendarTime time = to_calendar(ticks);
  switch (part) {
    case DatePart::year:
      return time.year;
    case DatePart::month:
      return time.month;
    case DatePart::day:
      return time.day;
    case DatePart::hour:
      return time.hour;
    case DatePart::minute:
      return time.minute;
    case DatePart::second:
      return time.second;
    case DatePart::millisecond:
      return time.fraction / kTicksPerMillisecond;
    case DatePart::microsecond:
      return time.fraction / kTicksPerMicrosecond;
    case DatePart::nanosecond:
      return time.fraction * 100;
  }
  return 0;
}

std::optional<Ticks> add(DatePart part, int64_t count, Ticks ticks) {
  if (part == DatePart::month) return add_months(count, ticks);
  if (part == DatePart::year) {
    if (count > 10'000 || count < -10'000) return std::nullopt;
    return add_months(count * 12, ticks);
  }
  if (part == DatePart::nanosecond) count /= 100;
  Ticks change = 0;
  Ticks result = 0;
  if (__builtin_mul_overflow(count, ticks_in(part), &change)) return std::nullopt;
  if (__builtin_add_overflow(ticks, change, &result) || !is_in_range(result)) return std::nullopt;
  return result;
}

int64_t difference(DatePart part, Ticks start, Ticks end) {
  switch (part) {
    case DatePart::year:
      return to_calendar(end).year - to_calendar(start).year;
    case DatePart::month:
      return months_of(to_calendar(end)) - months_of(to_calendar(start));
    case DatePart::nanosecond:
      // 10,000 years of nanoseconds do not fit 64 bits; what does not is held at the end.
      if (int64_t result = 0; !__builtin_mul_overflow(end - start, int64_t{100}, &result)) {
        return result;
      }
      return end > start ? INT64_MAX : INT64_MIN;
    default:
      return floor_div(end, ticks_in(part)) - floor_div(start, ticks_in(part));
  }
}

std::optional<Ticks> bin(DatePart part, int64_t size, Ticks origin, Ticks ticks) {
  if (size < 1) return std::nullopt;
  if (part == DatePart::year || part == DatePart::month) {
    if (size > 120'000) size = 120'000;
    if (part == DatePart::year) size *= 12;
    const int64_t months = difference(DatePart::month, origin, ticks);
    const int64_t count = floor_div(months, size);
    std::optional<Ticks> start = add_months(count * size, origin);
    // The origin may lie later in its month than the time does in its own.
    if (start && *start > ticks) start = add_months((count - 1) * size, origin);
    return start;
  }
  Ticks width = 0;
  // A hundred nanoseconds are a tick; a smaller bin is one.
  if (part == DatePart::nanosecond) size = std::max<int64_t>(size / 100, 1);
  if (__builtin_mul_overflow(size, ticks_in(part), &width)) width = INT64_MAX;
  Ticks start = 0;
  if (__builtin_mul_overflow(floor_div(ticks - origin, width), width, &start)) return std::nullopt;
  if (__builtin_add_overflow(start, origin, &start) || !is_in_range(start)) return std::nullopt;
  return start;
}

}  // namespace orrery::query
