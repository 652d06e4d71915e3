// See iso_time.h.
#include "api/table/service/iso_time.h"

#include <chrono>

namespace orrery::table {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool at_end() const { return rest_.empty(); }
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // Exactly `digits` of them, at most `max`.
  std::optional<int> number(size_t digits, int max) {
    if (rest_.size() < digits) return std::nullopt;
    int value = 0;
    for (size_t i = 0; i < digits; ++i) {
      if (!is_digit(rest_[i])) return std::nullopt;
      value = value * 10 + (rest_[i] - '0');
    }
    if (value > max) return std::nullopt;
    rest_.remove_prefix(digits);
    return value;
  }
  // One digit or more.
  bool skip_digits() {
    size_t count = 0;
    while (count < rest_.size() && is_digit(rest_[count])) ++count;
    rest_.remove_prefix(count);
    return count > 0;
  }

 private:
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  std::string_view rest_;
};

// Z, an offset, or nothing: seconds to subtract.
std::optional<int64_t> zone(Reader& in) {
  if (in.at_end() || in.take('Z')) return 0;
  const bool minus = in.take('-');
  if (!minus && !in.take('+')) return std::nullopt;
  const auto hours = in.number(2, 14);
  in.take(':');
  const auto minutes = in.number(2, 59);
  if (!hours || !minutes) return std::nullopt;
  const int64_t offset = *hours * 3'600 + *minutes * 60;
  return minus ? -offset : offset;
}

}  // namespace

std::optional<int64_t> parse_iso_time(std::string_view text) {
  Reader in(text);
  const auto year = in.number(4, 9'999);
  if (!year || !in.take('-')) return std::nullopt;
  const auto month = in.number(2, 12);
  if (!month || !in.take('-')) return std::nullopt;
  const auto day = in.number(2, 31);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok()) return std::nullopt;
  int64_t seconds = std::chrono::sys_days(date).time_since_epoch().count() * int64_t{86'400};
  if (in.at_end()) return seconds;
  if (!in.take('T')) return std::nullopt;
  const auto hour = in.number(2, 23);
  if (!hour || !in.take(':')) return std::nullopt;
  const auto minute = in.number(2, 59);
  if (!minute) return std::nullopt;
  seconds += *hour * 3'600 + *minute * 60;
  if (in.take(':')) {
    const auto second = in.number(2, 60);
    if (!second) return std::nullopt;
    seconds += *second;
    if (in.take('.') && !in.skip_digits()) return std::nullopt;
  }
  const auto offset = zone(in);
  if (!offset || !in.at_end()) return std::nullopt;
  return seconds - *offset;
}

}  // namespace orrery::table
