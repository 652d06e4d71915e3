// See ticks.h.
#include "api/table/wire/ticks.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "base/bytes.h"

namespace orrery::table {
namespace {

// The first and the last tick of the years 1 to 9999. Only damaged bytes have others.
constexpr Ticks kFirst = -62'135'596'800 * kTicksInSecond;
constexpr Ticks kLast = 253'402'300'800 * kTicksInSecond - 1;

// Takes a number of exactly `digits` digits off the front.
bool take_number(std::string_view& in, size_t digits, int& out) {
  if (in.size() < digits) return false;
  out = 0;
  for (size_t i = 0; i < digits; ++i) {
    if (in[i] < '0' || in[i] > '9') return false;
    out = out * 10 + (in[i] - '0');
  }
  in.remove_prefix(digits);
  return true;
}

bool take(std::string_view& in, char c) {
  if (!in.starts_with(c)) return false;
  in.remove_prefix(1);
  return true;
}

// The digits after the point, as ticks.
bool take_fraction(std::string_view& in, int64_t& ticks) {
  if (in.empty() || in.front() < '0' || in.front() > '9') return false;
  int64_t place = kTicksInSecond;
  while (!in.empty() && in.front() >= '0' && in.front() <= '9') {
    place /= 10;
    ticks += place * (in.front() - '0');
    in.remove_prefix(1);
  }
  return true;
}

// Z, +02:00, or nothing.
bool take_zone(std::string_view& in, int& minutes_east) {
  minutes_east = 0;
  if (in.empty() || take(in, 'Z') || take(in, 'z')) return true;
  const bool east = in.front() == '+';
  if (!east && in.front() != '-') return false;
  in.remove_prefix(1);
  int hours = 0;
  int minutes = 0;
  if (!take_number(in, 2, hours) || !take(in, ':') || !take_number(in, 2, minutes)) return false;
  if (hours > 14 || minutes > 59) return false;
  minutes_east = (east ? 1 : -1) * (hours * 60 + minutes);
  return true;
}

char* put_digits(char* to, uint32_t number, size_t digits) {
  for (size_t i = digits; i-- > 0; number /= 10) to[i] = static_cast<char>('0' + number % 10);
  return to + digits;
}

void append_time_with(std::string& out, Ticks ticks, std::string_view colon) {
  using namespace std::chrono;
  ticks = std::clamp(ticks, kFirst, kLast);
  const Ticks day_ticks = 86'400 * kTicksInSecond;
  const Ticks day = ticks / day_ticks - (ticks % day_ticks < 0 ? 1 : 0);
  const Ticks rest = ticks - day * day_ticks;
  const year_month_day date{sys_days{days{day}}};
  const auto second = static_cast<uint32_t>(rest / kTicksInSecond);  // of the day
  std::array<char, 40> text;
  char* to = put_digits(text.data(), static_cast<uint32_t>(static_cast<int>(date.year())), 4);
  *to++ = '-';
  to = put_digits(to, static_cast<unsigned>(date.month()), 2);
  *to++ = '-';
  to = put_digits(to, static_cast<unsigned>(date.day()), 2);
  *to++ = 'T';
  to = put_digits(to, second / 3600, 2);
  to = std::ranges::copy(colon, to).out;
  to = put_digits(to, second / 60 % 60, 2);
  to = std::ranges::copy(colon, to).out;
  to = put_digits(to, second % 60, 2);
  *to++ = '.';
  to = put_digits(to, static_cast<uint32_t>(rest % kTicksInSecond), 7);
  *to++ = 'Z';
  out.append(text.data(), to);
}

}  // namespace

std::optional<Ticks> parse_time(std::string_view in) {
  using namespace std::chrono;
  int year_number = 0, month_number = 0, day_number = 0, hour = 0, minute = 0, second = 0;
  int64_t fraction = 0;
  if (!take_number(in, 4, year_number) || !take(in, '-') || !take_number(in, 2, month_number) ||
      !take(in, '-') || !take_number(in, 2, day_number) || year_number == 0) {
    return std::nullopt;
  }
  const year_month_day date{year{year_number}, month{static_cast<unsigned>(month_number)},
                            std::chrono::day{static_cast<unsigned>(day_number)}};
  if (!date.ok()) return std::nullopt;
  int minutes_east = 0;
  if (!in.empty()) {
    if (!take(in, 'T') && !take(in, 't') && !take(in, ' ')) return std::nullopt;
    if (!take_number(in, 2, hour) || !take(in, ':') || !take_number(in, 2, minute)) {
      return std::nullopt;
    }
    if (take(in, ':') && !take_number(in, 2, second)) return std::nullopt;
    if (take(in, '.') && !take_fraction(in, fraction)) return std::nullopt;
    if (!take_zone(in, minutes_east) || !in.empty()) return std::nullopt;
    if (hour > 23 || minute > 59 || second > 59) return std::nullopt;
  }
  const int64_t day_count = sys_days{date}.time_since_epoch().count();
  const int64_t seconds = day_count * 86'400 + hour * 3600 + (minute - minutes_east) * 60 + second;
  const Ticks ticks = seconds * kTicksInSecond + fraction;
  if (ticks < kFirst || ticks > kLast) return std::nullopt;  // by its zone
  return ticks;
}

void append_time(std::string& out, Ticks ticks) {
  append_time_with(out, ticks, ":");
}

std::string time_text(Ticks ticks) {
  std::string out;
  append_time(out, ticks);
  return out;
}

void append_etag(std::string& out, Ticks ticks) {
  out += "W/\"datetime'";
  append_time_with(out, ticks, "%3A");
  out += "'\"";
}

void append_etag_json(std::string& out, Ticks ticks) {
  out += "\"W/\\\"datetime'";
  append_time_with(out, ticks, "%3A");
  out += "'\\\"\"";
}

std::optional<EtagCondition> parse_if_match(std::string_view text) {
  if (text == "*") return EtagCondition{.any = true, .ticks = {}};
  const bool is_weak = text.starts_with("W/\"") || text.starts_with("w/\"");
  if (!is_weak || !text.ends_with('"') || text.size() < 4) return std::nullopt;
  EtagCondition condition;
  std::string_view inside = text.substr(3, text.size() - 4);
  constexpr std::string_view kMark = "datetime'";
  if (!inside.starts_with(kMark) || !inside.ends_with('\'')) return condition;
  inside.remove_prefix(kMark.size());
  if (inside.empty()) return condition;
  inside.remove_suffix(1);
  auto decoded = percent_decode(inside);
  if (decoded) condition.ticks = parse_time(*decoded);
  return condition;
}

}  // namespace orrery::table
