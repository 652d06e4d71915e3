// Dates by arithmetic on days since 1970 rather than by the C library, whose functions follow the
// locale and the time zone. See http_date.h.
#include "net/http_date.h"

#include <array>
#include <chrono>

#include "base/bytes.h"

namespace orrery::net {
namespace {

constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
constexpr std::string_view kDays = "SunMonTueWedThuFriSat";
constexpr std::array<std::string_view, 7> kLongDays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                       "Thursday", "Friday", "Saturday"};

// The first three bytes of a text as a number, with ASCII letters in lower case; other bytes may
// become others, but none becomes a letter. Every request has a date, so a name is compared in one
// step.
constexpr uint32_t lowered_three(std::string_view text) {
  uint32_t number = 0;
  for (size_t i = 0; i < 3; ++i) {
    number = number << 8 | static_cast<unsigned char>(text[i] | 0x20);
  }
  return number;
}

// Where a list of three-letter names has the one that a text begins with. The text has three bytes.
std::optional<unsigned> place_of(std::string_view names, std::string_view text) {
  const uint32_t wanted = lowered_three(text);
  for (unsigned i = 0; i * 3 < names.size(); ++i) {
    if (lowered_three(names.substr(size_t{i} * 3, 3)) == wanted) return i;
  }
  return std::nullopt;
}

// Reads a date from left to right; any mismatch sticks.
class DateReader {
 public:
  explicit DateReader(std::string_view text) : rest_(text) {}

  bool ok() const { return ok_; }
  bool at_end() const { return ok_ && rest_.empty(); }

  bool literal(std::string_view expected) {
    if (!equals_ignore_case(rest_.substr(0, expected.size()), expected)) return ok_ = false;
    rest_.remove_prefix(expected.size());
    return ok_;
  }
  bool try_literal(std::string_view expected) {
    if (!ok_ || !equals_ignore_case(rest_.substr(0, expected.size()), expected)) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }
  unsigned digits(size_t count, bool space_padded = false) {
    if (rest_.size() < count) {
      ok_ = false;
      return 0;
    }
    unsigned number = 0;
    for (size_t i = 0; i < count; ++i) {
      const char c = rest_[i];
      if (space_padded && i == 0 && c == ' ') continue;
      if (c < '0' || c > '9') {
        ok_ = false;
        return 0;
      }
      number = number * 10 + static_cast<unsigned>(c - '0');
    }
    rest_.remove_prefix(count);
    return number;
  }
  // The position of a three-letter name in a list of them.
  unsigned name(std::string_view names) {
    const auto place = ok_ && rest_.size() >= 3 ? place_of(names, rest_) : std::nullopt;
    ok_ = place.has_value();
    if (!ok_) return 0;
    rest_.remove_prefix(3);
    return *place;
  }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

struct Time {
  unsigned hour = 0, minute = 0, second = 0;
};

Time read_time(DateReader& in) {
  Time time;
  time.hour = in.digits(2);
  in.literal(":");
  time.minute = in.digits(2);
  in.literal(":");
  time.second = in.digits(2);
  return time;
}

std::optional<int64_t> seconds_of(unsigned year, unsigned month, unsigned day, const Time& time) {
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(year)),
                                         std::chrono::month(month + 1), std::chrono::day(day)};
  // 60 is a leap second: taken as the next minute's first.
  if (!date.ok() || time.hour > 23 || time.minute > 59 || time.second > 60) return std::nullopt;
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  return int64_t{days} * 86'400 + time.hour * 3600 + time.minute * 60 + time.second;
}

// Sun, 06 Nov 1994 08:49:37 GMT, or UTC as some clients write. Every request has such a date, so it
// is read by its fixed places.
std::optional<int64_t> usual_date(std::string_view text) {
  constexpr std::string_view kForm = "###, 00 ### 0000 00:00:00 ###";
  if (text.size() != kForm.size()) return std::nullopt;
  for (size_t i = 0; i < kForm.size(); ++i) {
    const bool matches = kForm[i] == '#' || (kForm[i] == '0' && text[i] >= '0' && text[i] <= '9') ||
                         (kForm[i] != '0' && kForm[i] == text[i]);
    if (!matches) return std::nullopt;
  }
  const auto two = [&](size_t at) {
    return static_cast<unsigned>(text[at] - '0') * 10 + static_cast<unsigned>(text[at + 1] - '0');
  };
  const auto month = place_of(kMonths, text.substr(8));
  const uint32_t zone = lowered_three(text.substr(26));
  if (!month || !place_of(kDays, text) ||
      (zone != lowered_three("gmt") && zone != lowered_three("utc"))) {
    return std::nullopt;
  }
  return seconds_of(two(12) * 100 + two(14), *month, two(5),
                    {.hour = two(17), .minute = two(20), .second = two(23)});
}

}  // namespace

std::string http_date(time_t unix_s) {
  const auto days =
      std::chrono::floor<std::chrono::days>(std::chrono::sys_seconds(std::chrono::seconds(unix_s)));
  const std::chrono::year_month_day date(days);
  const auto of_day =
      static_cast<unsigned>(int64_t{unix_s} - days.time_since_epoch().count() * int64_t{86'400});
  std::string out;
  out.reserve(29);
  auto two = [&out](unsigned number) {
    out += static_cast<char>('0' + number / 10 % 10);
    out += static_cast<char>('0' + number % 10);
  };
  out += kDays.substr(std::chrono::weekday(days).c_encoding() * size_t{3}, 3);
  out += ", ";
  two(static_cast<unsigned>(date.day()));
  out += ' ';
  out += kMonths.substr((static_cast<unsigned>(date.month()) - 1) * size_t{3}, 3);
  out += ' ';
  const auto year = static_cast<unsigned>(static_cast<int>(date.year()));
  two(year / 100);
  two(year);
  out += ' ';
  two(of_day / 3600);
  out += ':';
  two(of_day / 60 % 60);
  out += ':';
  two(of_day % 60);
  out += " GMT";
  return out;
}

std::optional<int64_t> parse_http_date(std::string_view text) {
  if (text.size() > 40) return std::nullopt;
  DateReader in(text);
  const size_t comma = text.find(',');
  if (comma == 3) return usual_date(text);
  if (comma != std::string_view::npos) {  // Sunday, 06-Nov-94 08:49:37 GMT
    bool named = false;
    for (const std::string_view day : kLongDays) named = named || in.try_literal(day);
    in.literal(", ");
    const unsigned day = in.digits(2);
    in.literal("-");
    const unsigned month = in.name(kMonths);
    in.literal("-");
    const unsigned year = in.digits(2);
    in.literal(" ");
    const Time time = read_time(in);
    in.literal(" GMT");
    if (!named || !in.at_end()) return std::nullopt;
    return seconds_of(year < 70 ? 2000 + year : 1900 + year, month, day, time);
  }
  in.name(kDays);  // Sun Nov  6 08:49:37 1994
  in.literal(" ");
  const unsigned month = in.name(kMonths);
  in.literal(" ");
  const unsigned day = in.digits(2, true);
  in.literal(" ");
  const Time time = read_time(in);
  in.literal(" ");
  const unsigned year = in.digits(4);
  if (!in.at_end()) return std::nullopt;
  return seconds_of(year, month, day, time);
}

}  // namespace orrery::net
