// See time_value.h.
#include "advise/time_value.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

namespace orrery::advise {
namespace {

constexpr double kYear2000 = 946'684'800;
constexpr double kYear2100 = 4'102'444'800;
constexpr double kSecondsInHour = 3'600;
constexpr double kSecondsInDay = 86'400;

// Reads numbers and separators off a text.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}
  bool at_end() const { return text_.empty(); }
  bool take(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  // Exactly `digits` of them.
  std::optional<int> number(size_t digits) {
    if (text_.size() < digits) return std::nullopt;
    int value = 0;
    for (size_t i = 0; i < digits; ++i) {
      if (text_[i] < '0' || text_[i] > '9') return std::nullopt;
      value = value * 10 + (text_[i] - '0');
    }
    text_.remove_prefix(digits);
    return value;
  }
  void skip_digits() {
    while (!text_.empty() && text_.front() >= '0' && text_.front() <= '9') text_.remove_prefix(1);
  }

 private:
  std::string_view text_;
};

std::optional<double> days_since_1970(int year, int month, int day) {
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok() || year < 1900 || year > 2200) return std::nullopt;
  return static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count());
}

// The offset from UTC at the end of a text, in seconds; nothing when there is something else.
std::optional<double> zone(Scanner& scan) {
  if (scan.at_end()) return 0;
  if (scan.take('Z')) return scan.at_end() ? std::optional<double>(0) : std::nullopt;
  const double sign = scan.take('+') ? 1 : scan.take('-') ? -1 : 0;
  if (sign == 0) return std::nullopt;
  const auto hours = scan.number(2);
  scan.take(':');
  const auto minutes = scan.at_end() ? std::optional<int>(0) : scan.number(2);
  if (!hours || !minutes || !scan.at_end()) return std::nullopt;
  return sign * (*hours * kSecondsInHour + *minutes * 60);
}

std::chrono::year_month_day date_of(double s) {
  return std::chrono::sys_days(
      std::chrono::days(static_cast<int64_t>(std::floor(s / kSecondsInDay))));
}

}  // namespace

std::optional<TimeValue> parse_time(std::string_view text) {
  if (text.size() < 7 || text.size() > 40) return std::nullopt;
  Scanner scan(text);
  const auto year = scan.number(4);
  if (!year || !scan.take('-')) return std::nullopt;
  const auto month = scan.number(2);
  if (!month) return std::nullopt;
  if (scan.at_end()) {
    const auto days = days_since_1970(*year, *month, 1);
    if (!days) return std::nullopt;
    return TimeValue{*days * kSecondsInDay, TimeForm::month};
  }
  if (!scan.take('-')) return std::nullopt;
  const auto day = scan.number(2);
  if (!day) return std::nullopt;
  const auto days = days_since_1970(*year, *month, *day);
  if (!days) return std::nullopt;
  if (scan.at_end()) return TimeValue{*days * kSecondsInDay, TimeForm::day};
  if (!scan.take('T') && !scan.take(' ')) return std::nullopt;
  const auto hour = scan.number(2);
  if (!hour || *hour > 24) return std::nullopt;
  const double at_hour = *days * kSecondsInDay + *hour * kSecondsInHour;
  if (scan.at_end()) return TimeValue{at_hour, TimeForm::hour};
  if (!scan.take(':')) return std::nullopt;
  const auto minute = scan.number(2);
  if (!minute || *minute > 59) return std::nullopt;
  double second = 0;
  if (scan.take(':')) {
    const auto whole = scan.number(2);
    if (!whole || *whole > 60) return std::nullopt;
    second = *whole;
    if (scan.take('.')) scan.skip_digits();
  }
  const auto offset = zone(scan);
  if (!offset) return std::nullopt;
  return TimeValue{at_hour + *minute * 60 + second - *offset, TimeForm::instant};
}

std::optional<TimeValue> parse_time(double number) {
  if (number >= kYear2000 && number < kYear2100) return TimeValue{number, TimeForm::instant};
  if (number >= kYear2000 * 1000 && number < kYear2100 * 1000) {
    return TimeValue{number / 1000, TimeForm::instant};
  }
  return std::nullopt;
}

std::optional<TimeValue> parse_time(const value::Node& node) {
  if (node.type == value::Type::string) return parse_time(node.text);
  if (node.type == value::Type::number) return parse_time(node.number);
  return std::nullopt;
}

int64_t period_of(double s, Period period) {
  switch (period) {
    case Period::none:
      return 0;
    case Period::hour:
      return static_cast<int64_t>(std::floor(s / kSecondsInHour));
    case Period::day:
      return static_cast<int64_t>(std::floor(s / kSecondsInDay));
    case Period::month:
      break;
  }
  const auto date = date_of(s);
  return int64_t{static_cast<int>(date.year())} * 12 + static_cast<unsigned>(date.month()) - 1;
}

double period_seconds(Period period) {
  switch (period) {
    case Period::none:
      return 0;
    case Period::hour:
      return kSecondsInHour;
    case Period::day:
      return kSecondsInDay;
    case Period::month:
      break;
  }
  return 30.4 * kSecondsInDay;
}

std::string period_text(int64_t number, Period period) {
  switch (period) {
    case Period::none:
      return "";
    case Period::hour:
      return fmt::format("{}T{:02}", date_text(static_cast<double>(number) * kSecondsInHour),
                         ((number % 24) + 24) % 24);
    case Period::day:
      return date_text(static_cast<double>(number) * kSecondsInDay);
    case Period::month:
      break;
  }
  return fmt::format("{:04}-{:02}", number / 12, number % 12 + 1);
}

std::string_view to_text(Period period) {
  switch (period) {
    case Period::none:
      return "";
    case Period::hour:
      return "hour";
    case Period::day:
      return "day";
    case Period::month:
      break;
  }
  return "month";
}

std::string date_text(double s) {
  const auto date = date_of(s);
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

}  // namespace orrery::advise
