// Texts of dates (dates.h).
#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "api/mongo/expression/dates.h"

namespace orrery::mongo {
namespace {

constexpr std::string_view kLettersToString = "dGHjLmMSwuUVYzZbB%";
constexpr std::string_view kLettersFromString = "dGHjLmMSuVYzZbB%";

constexpr std::array<std::string_view, 12> kMonths = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
char lower(char c) {
  return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}
bool same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

// What a text of a date said.
struct Found {
  std::optional<int64_t> year, month, day, day_of_year, iso_year, iso_week, iso_day;
  int64_t hour = 0;
  int64_t minute = 0;
  int64_t second = 0;
  int64_t ms = 0;
  std::optional<TimeZone> zone;
};

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}
  bool is_done() const { return at_ == text_.size(); }
  char peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  void skip(size_t count = 1) { at_ += count; }
  bool take(char c) {
    if (peek() != c || is_done()) return false;
    ++at_;
    return true;
  }
  void skip_spaces() {
    while (peek() == ' ' || peek() == '\t') ++at_;
  }
  size_t digits_ahead() const {
    size_t count = 0;
    while (is_digit(peek(count))) ++count;
    return count;
  }
  std::optional<int64_t> number(size_t most) {
    const size_t count = std::min(digits_ahead(), most);
    if (count == 0) return std::nullopt;
    int64_t number = 0;
    std::from_chars(text_.data() + at_, text_.data() + at_ + count, number);
    at_ += count;
    return number;
  }
  // Milliseconds of the digits behind a point.
  std::optional<int64_t> fraction() {
    const size_t count = digits_ahead();
    if (count == 0) return std::nullopt;
    int64_t ms = 0;
    for (size_t i = 0; i < 3; ++i) ms = ms * 10 + (i < count ? peek(i) - '0' : 0);
    at_ += count;
    return ms;
  }
  std::string_view word() const {
    size_t size = 0;
    while (is_letter(peek(size))) ++size;
    return text_.substr(at_, size);
  }
  std::string_view rest() const { return text_.substr(at_); }

  std::optional<int64_t> month_name() {
    const std::string_view name = word();
    for (size_t i = 0; i < kMonths.size(); ++i) {
      if (!same_word(name, kMonths[i]) && !same_word(name, kMonths[i].substr(0, 3))) continue;
      at_ += name.size();
      return static_cast<int64_t>(i) + 1;
    }
    return std::nullopt;
  }

  // Z, +hh, +hhmm, +hh:mm, or a name, which may have an offset behind GMT or UTC.
  std::optional<TimeZone> zone() {
    if (peek() == '+' || peek() == '-') {
      const int64_t sign = peek() == '-' ? -1 : 1;
      ++at_;
      const size_t count = digits_ahead();
      int64_t hours = number(count == 3 || count == 1 ? 1 : 2).value_or(100);
      int64_t minutes = 0;
      if (take(':')) {
        minutes = number(2).value_or(100);
      } else if (is_digit(peek())) {
        minutes = number(2).value_or(100);
      }
      if (hours > 24 || minutes > 59) return std::nullopt;
      return TimeZone::of_offset(sign * (hours * kMsInHour + minutes * kMsInMinute));
    }
    size_t size = 0;
    while (is_letter(peek(size)) || peek(size) == '/' || peek(size) == '_') ++size;
    const std::string_view name = rest().substr(0, size);
    if (size == 0) return std::nullopt;
    at_ += size;
    if (same_word(name, "z") || same_word(name, "gmt") || same_word(name, "utc")) {
      if (peek() == '+' || peek() == '-') return zone();
      return TimeZone();
    }
    auto parsed = TimeZone::parse(name);
    return parsed ? std::optional(*parsed) : std::nullopt;
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

// A day out of range is an error; a day of a year may pass its end.
bool is_valid(const Found& found) {
  const auto within = [](const std::optional<int64_t>& part, int64_t least, int64_t most) {
    return !part || (*part >= least && *part <= most);
  };
  if (found.year && found.month && found.day &&
      (*found.month < 1 || *found.month > 12 || *found.day < 1 ||
       *found.day > days_in_month(*found.year, *found.month))) {
    return false;
  }
  return within(found.iso_week, 1, 53) && within(found.iso_day, 1, 7) && found.hour <= 24 &&
         found.minute <= 59 && found.second <= 60;
}

std::unexpected<Error> failure(std::string_view text, std::string_view why) {
  return refuse(kConversionFailure, fmt::format("Error parsing date string '{}'; {}", text, why));
}

Answer<int64_t> put_together(std::string_view text, const Found& found,
                             const std::optional<TimeZone>& zone) {
  const bool is_iso = found.iso_year || found.iso_week || found.iso_day;
  const bool is_natural = found.year || found.month || found.day || found.day_of_year;
  if (is_iso && is_natural) {
    return failure(text, "Mixing of ISO dates with natural dates is not allowed");
  }
  if (!is_valid(found)) return failure(text, "a part of the date is out of range");
  int64_t days = 0;
  if (found.iso_year) {
    days = days_of(IsoWeek{*found.iso_year, found.iso_week.value_or(1), found.iso_day.value_or(1)});
  } else if (found.year && found.day_of_year) {
    // From 0 on, as MongoDB reads it; it writes it from 1 on.
    days = days_of(CivilDate{*found.year, 1, *found.day_of_year + 1});
  } else if (found.year && found.month && found.day) {
    days = days_of(CivilDate{*found.year, *found.month, *found.day});
  } else {
    return failure(text, "an incomplete date/time string has been found, with elements missing");
  }
  const int64_t ms = days * kMsInDay + found.hour * kMsInHour + found.minute * kMsInMinute +
                     found.second * kMsInSecond + found.ms;
  if (found.zone && zone) {
    return failure(text,
                   "you cannot pass in a date/time string with time zone information together with "
                   "a timezone argument");
  }
  if (found.zone) return found.zone->to_utc(ms);
  return zone ? zone->to_utc(ms) : ms;
}

// The part that a letter of a format stands for, and how many digits it has at most.
struct Digits {
  char letter;
  std::optional<int64_t> Found::* optional;
  int64_t Found::* plain;
  size_t most;
};
constexpr std::array kDigits = {
    Digits{'Y', &Found::year, nullptr, 4},     Digits{'m', &Found::month, nullptr, 2},
    Digits{'d', &Found::day, nullptr, 2},      Digits{'j', &Found::day_of_year, nullptr, 3},
    Digits{'G', &Found::iso_year, nullptr, 4}, Digits{'V', &Found::iso_week, nullptr, 2},
    Digits{'u', &Found::iso_day, nullptr, 1},  Digits{'H', nullptr, &Found::hour, 2},
    Digits{'M', nullptr, &Found::minute, 2},   Digits{'S', nullptr, &Found::second, 2},
};

// Whether the text has what the letter stands for.
bool scan_letter(Scanner& scanner, char letter, Found& found) {
  for (const Digits& one : kDigits) {
    if (one.letter != letter) continue;
    const auto number = scanner.number(one.most);
    if (!number) return false;
    if (one.optional != nullptr) {
      found.*one.optional = number;
    } else {
      found.*one.plain = *number;
    }
    return true;
  }
  switch (letter) {
    case 'L': {
      const auto ms = scanner.fraction();
      if (ms) found.ms = *ms;
      return ms.has_value();
    }
    case 'b':
    case 'B':
      found.month = scanner.month_name();
      return found.month.has_value();
    case 'z':
      found.zone = scanner.zone();
      return found.zone.has_value();
    case 'Z': {
      const bool is_minus = scanner.peek() == '-';
      if (!scanner.take('+') && !scanner.take('-')) return false;
      const auto minutes = scanner.number(4);
      if (minutes) found.zone = TimeZone::of_offset((is_minus ? -1 : 1) * *minutes * kMsInMinute);
      return minutes.has_value();
    }
    default:
      return scanner.take('%');
  }
}

Answer<Found> scan_by_format(std::string_view text, std::string_view format) {
  Scanner scanner(text);
  Found found;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      if (!scanner.take(format[i])) return failure(text, "Format literal not found");
      continue;
    }
    if (!scan_letter(scanner, format[++i], found)) {
      return failure(text, fmt::format("the text does not match %{}", format[i]));
    }
  }
  if (!scanner.is_done()) return failure(text, "Trailing data");
  return found;
}

// 2021-01-31, 2021/01/31, 2021-Jan-31, 20210131, 1/31/2021, Jan 31, 2021, 31 January 2021.
bool scan_date(Scanner& scanner, Found& found) {
  if (is_letter(scanner.peek())) {
    found.month = scanner.month_name();
    scanner.skip_spaces();
    found.day = scanner.number(2);
    // 4th, 1st
    if (scanner.word().size() == 2) scanner.skip(2);
    scanner.take(',');
    scanner.skip_spaces();
    found.year = scanner.number(4);
  } else if (const size_t count = scanner.digits_ahead(); count == 8) {
    found.year = scanner.number(4);
    found.month = scanner.number(2);
    found.day = scanner.number(2);
  } else if (count == 4) {
    found.year = scanner.number(4);
    const char separator = scanner.peek();
    if (separator != '-' && separator != '/' && separator != '.') return false;
    scanner.skip();
    found.month = is_letter(scanner.peek()) ? scanner.month_name() : scanner.number(2);
    if (!scanner.take(separator)) return false;
    found.day = scanner.number(2);
  } else if (count > 0 && scanner.peek(count) == '/') {
    found.month = scanner.number(2);
    scanner.skip();
    found.day = scanner.number(2);
    if (!scanner.take('/')) return false;
    found.year = scanner.number(4);
  } else {
    found.day = scanner.number(2);
    while (scanner.peek() == ' ' || scanner.peek() == '-') scanner.skip();
    found.month = scanner.month_name();
    while (scanner.peek() == ' ' || scanner.peek() == '-' || scanner.peek() == ',') scanner.skip();
    found.year = scanner.number(4);
  }
  return found.year && found.month && found.day;
}

bool scan_time(Scanner& scanner, Found& found) {
  const auto hour = scanner.number(2);
  if (!hour) return false;
  found.hour = *hour;
  if (scanner.take(':')) {
    const auto minute = scanner.number(2);
    if (!minute) return false;
    found.minute = *minute;
    if (scanner.take(':')) {
      const auto second = scanner.number(2);
      if (!second) return false;
      found.second = *second;
      if (scanner.take('.') || scanner.take(',')) {
        const auto ms = scanner.fraction();
        if (!ms) return false;
        found.ms = *ms;
      }
    }
  }
  scanner.skip_spaces();
  const std::string_view half = scanner.word();
  if (same_word(half, "am") || same_word(half, "pm")) {
    if (found.hour < 1 || found.hour > 12) return false;
    found.hour = found.hour % 12 + (same_word(half, "pm") ? 12 : 0);
    scanner.skip(half.size());
  }
  return true;
}

Answer<Found> scan_freely(std::string_view text) {
  Scanner scanner(text);
  Found found;
  scanner.skip_spaces();
  if (!scan_date(scanner, found)) {
    return failure(text, "it is not a date in a form that is known, such as 2021-01-31T12:00:00Z");
  }
  if (!scanner.take('T')) {
    scanner.take('t');
    scanner.take(',');
    scanner.skip_spaces();
  }
  if (const std::string_view word = scanner.word(); same_word(word, "noon")) {
    found.hour = 12;
    scanner.skip(word.size());
  } else if (same_word(word, "midnight")) {
    scanner.skip(word.size());
  } else if (is_digit(scanner.peek()) && !scan_time(scanner, found)) {
    return failure(text, "its time cannot be read");
  }
  scanner.skip_spaces();
  if (!scanner.is_done()) {
    found.zone = scanner.zone();
    if (!found.zone) return failure(text, "its time zone cannot be read");
    scanner.skip_spaces();
  }
  if (!scanner.is_done()) return failure(text, "Trailing data");
  return found;
}

}  // namespace

Answer<void> check_format(std::string_view format, bool is_for_parsing) {
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') continue;
    if (++i == format.size()) return refuse(18535, "Unmatched '%' at end of format string");
    if ((is_for_parsing ? kLettersFromString : kLettersToString).find(format[i]) ==
        std::string_view::npos) {
      return refuse(18536,
                    fmt::format("Invalid format character '%{}' in format string", format[i]));
    }
  }
  return {};
}

Answer<std::string> format_date(int64_t utc_ms, std::string_view format, const TimeZone& zone) {
  if (auto checked = check_format(format, false); !checked) return pass(std::move(checked.error()));
  const int64_t offset_minutes = zone.offset_at(utc_ms) / kMsInMinute;
  const LocalTime time = local_time(zone.to_local(utc_ms));
  const IsoWeek week = iso_week_of(time.days);
  const int64_t year_day = time.days - days_of(CivilDate{time.date.year, 1, 1}) + 1;
  const int64_t weekday = week.weekday % 7 + 1;
  std::string text;
  auto out = std::back_inserter(text);
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      text += format[i];
      continue;
    }
    switch (const char letter = format[++i]; letter) {
      case 'Y':
      case 'G': {
        const int64_t year = letter == 'Y' ? time.date.year : week.year;
        if (year < 0 || year > 9999) {
          return refuse(18537, fmt::format("Could not convert date to string: date component was "
                                           "outside the supported range of 0-9999: {}",
                                           year));
        }
        fmt::format_to(out, "{:04}", year);
        break;
      }
      case 'm':
        fmt::format_to(out, "{:02}", time.date.month);
        break;
      case 'd':
        fmt::format_to(out, "{:02}", time.date.day);
        break;
      case 'H':
        fmt::format_to(out, "{:02}", time.hour);
        break;
      case 'M':
        fmt::format_to(out, "{:02}", time.minute);
        break;
      case 'S':
        fmt::format_to(out, "{:02}", time.second);
        break;
      case 'L':
        fmt::format_to(out, "{:03}", time.ms);
        break;
      case 'j':
        fmt::format_to(out, "{:03}", year_day);
        break;
      case 'w':
        fmt::format_to(out, "{}", weekday);
        break;
      case 'u':
        fmt::format_to(out, "{}", week.weekday);
        break;
      case 'U':
        fmt::format_to(out, "{:02}", (year_day + 7 - weekday) / 7);
        break;
      case 'V':
        fmt::format_to(out, "{:02}", week.week);
        break;
      case 'b':
        text += kMonths[static_cast<size_t>(time.date.month - 1)].substr(0, 3);
        break;
      case 'B':
        text += kMonths[static_cast<size_t>(time.date.month - 1)];
        break;
      case 'z':
        fmt::format_to(out, "{}{:02}{:02}", offset_minutes < 0 ? '-' : '+',
                       std::abs(offset_minutes) / 60, std::abs(offset_minutes) % 60);
        break;
      case 'Z':
        fmt::format_to(out, "{}", offset_minutes);
        break;
      default:
        text += '%';
        break;
    }
  }
  return text;
}

std::string iso_text(int64_t utc_ms) {
  const LocalTime time = local_time(utc_ms);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", time.date.year, time.date.month,
                     time.date.day, time.hour, time.minute, time.second, time.ms);
}

Answer<int64_t> parse_date(std::string_view text, std::optional<std::string_view> format,
                           const std::optional<TimeZone>& zone) {
  constexpr size_t kMaxText = 1000;
  if (text.size() > kMaxText) return failure(text.substr(0, kMaxText), "it is too long");
  auto found = format ? scan_by_format(text, *format) : scan_freely(text);
  if (!found) return pass(std::move(found.error()));
  return put_together(text, *found, zone);
}

}  // namespace orrery::mongo
